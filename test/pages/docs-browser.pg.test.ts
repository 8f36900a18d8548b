import t from 'tap'
import { noBrowser, openBrowser } from '../sdk/browser.ts'
import { testPersonalApiKey } from '../support/client.ts'
import { startServer } from '../support/server.ts'

t.test(
  'a browser shows every operation and tries one, within the page policy',
  { skip: noBrowser() },
  async (t) => {
    const server = await startServer(t)
    const page = await (await openBrowser(t)).newPage()
    const complaints: string[] = []
    const foreign: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (origin !== server.url && protocol !== 'data:') foreign.push(request.url())
    })
    await page.goto(`${server.url}/docs/`)
    await page.locator('.opblock').first().waitFor()
    const document: { paths: Record<string, object> } = JSON.parse((await server.get('/api/schema/')).text)
    const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
    t.equal(await page.locator('.opblock').count(), operations.length)

    await page.locator('.auth-wrapper .authorize').first().click()
    await page.locator('.auth-container input').fill(testPersonalApiKey)
    await page.locator('.auth-btn-wrapper .authorize').click()
    await page.locator('.auth-btn-wrapper .btn-done').click()
    const list = page.locator('.opblock-get', { hasText: '/api/projects/{project_id}/groups_types/' })
    await list.locator('.opblock-summary').click()
    await list.locator('.try-out__btn').click()
    await list.locator('input[placeholder="project_id"]').fill('@current')
    await list.locator('.execute').click()
    await list.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
    t.same(complaints, [])
    t.same(foreign, [])
  },
)
