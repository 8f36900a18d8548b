import t from 'tap'
import { noBrowser, openBrowser } from '../sdk/browser.ts'
import { testPersonalApiKey } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { startMailServer } from '../support/smtp.ts'
import { until } from '../support/until.ts'

t.test(
  'the link of an invite leads a browser to a membership and a key',
  { skip: noBrowser() },
  async (t) => {
    const mail = await startMailServer(t, { hideSTARTTLS: true })
    const site = 'https://spate.example'
    const env = { SMTP_URL: mail.url, MAIL_FROM: 'spate@example.com', SITE_URL: site }
    const server = await startServer(t, { env })
    const invited = await fetch(`${server.url}/api/organizations/@current/invites/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testPersonalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ target_email: 'ada@example.com' }),
    })
    t.match(await invited.json(), { emailing_attempt_made: true })
    await until(() => mail.received.length > 0)
    const text = (mail.received[0]?.text ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
    const link = (/https:\S+\/join\/#\S+/.exec(text)?.[0] ?? '').replace(site, server.url)

    const page = await (await openBrowser(t)).newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(link)
    t.equal(page.url(), `${server.url}/join/`, 'the token does not stay in the address')
    await page.locator('#accept').click()
    await page.locator('#key').waitFor()
    const key = (await page.locator('#key').textContent()) ?? ''
    t.match(
      await page.locator('#said').textContent(),
      /^ada@example\.com is now a member of Default organization\./,
    )
    const mine = await fetch(`${server.url}/api/organizations/@current/`, {
      headers: { authorization: `Bearer ${key}` },
    })
    t.match(await mine.json(), { name: 'Default organization', membership_level: 1 })
    t.same(complaints, [])

    await page.goto(`${server.url}/join/#nothing`)
    await page.reload()
    t.match(await page.locator('#said').textContent(), /not complete/)
  },
)
