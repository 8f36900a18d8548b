// A headless Chromium, and a page that loads posthog-js the way a customer's page does.

import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'
import { testProjectApiKey } from '../support/client.ts'
import { listenFor } from '../support/listen.ts'

const executablePath = '/usr/bin/chromium'
/** As root in a container, and without a word to the world outside. */
const launchFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why browser tests cannot run here, or null. With REQUIRE_CHROMIUM=1 they must run, and fail if they cannot. */
export function noBrowser(): string | false {
  if (existsSync(executablePath) || process.env.REQUIRE_CHROMIUM === '1') return false
  return `${executablePath} is not installed; REQUIRE_CHROMIUM=1 makes this a failure`
}

/** Starts Chromium; it ends with the test. */
export async function openBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: launchFlags })
  t.teardown(() => browser.close())
  return browser
}

/** Serves a shop page that loads `packageName`'s array.js and starts it with `options`. Returns its address. */
export async function servePage(t: Test, packageName: string, options: object): Promise<string> {
  const script = readFileSync(fileURLToPath(import.meta.resolve(`${packageName}/dist/array.js`)))
  const page = `<!doctype html><html><head><title>Shop</title><link rel="icon" href="data:,"></head><body>
    <a id="more" href="#more">More</a><button id="buy" class="big red" data-plan="pro">Buy now</button>
    <script src="/array.js"></script>
    <script>posthog.init('${testProjectApiKey}', ${JSON.stringify(options)})</script></body></html>`
  const server = createServer((request, response) => {
    const isScript = request.url === '/array.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' })
    response.end(isScript ? script : page)
  })
  const port = await listenFor(t, server)
  return `http://127.0.0.1:${port}/`
}
