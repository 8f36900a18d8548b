// /join/: where the link of an invite's mail leads. The token stands behind the #, which browsers keep to themselves;
// the page sends it on when its reader asks for that, so that programs that follow every link accept nothing.

import type { Route } from '../http/route.ts'
import { fileReply, pageRoute } from './page.ts'

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Join an organization</title>
<link rel="icon" href="data:,">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }
button { font: inherit; padding: 0.5rem 1.5rem }
code { display: block; padding: 1rem; background: #eee; overflow-wrap: anywhere }
[hidden] { display: none }
</style>
</head>
<body>
<h1>Join an organization</h1>
<p id="said">You have been invited. Accepting works once.</p>
<button id="accept" type="button">Accept the invite</button>
<code id="key" hidden></code>
<noscript>This page needs JavaScript; the mail holds a command that does without.</noscript>
<script src="/join/start.js"></script>
</body>
</html>
`

const start = `const [organizationId = '', inviteId = '', token = ''] = location.hash.slice(1).split('/')
const said = document.getElementById('said')
const accept = document.getElementById('accept')
const key = document.getElementById('key')
// The token shall stay in no history.
history.replaceState(null, '', location.pathname)
if (token === '') {
  said.textContent = 'This address is not complete. Copy the whole link from the mail.'
  accept.hidden = true
}
accept.addEventListener('click', async () => {
  accept.disabled = true
  const path = ['/api/organizations', organizationId, 'invites', inviteId, 'accept', '']
  try {
    const reply = await fetch(path.map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    const answer = await reply.json()
    if (!reply.ok) throw new Error(answer.detail)
    const { organization, user, personal_api_key } = answer
    accept.hidden = true
    said.textContent = user.email + ' is now a member of ' + organization.name + '.'
    if (personal_api_key === null) return
    said.textContent += ' This is your personal API key. It is shown this once: keep it like a password.'
    key.textContent = personal_api_key
    key.hidden = false
  } catch (error) {
    said.textContent = 'That did not work: ' + error.message
    accept.disabled = false
  }
})
`

export function joinRoutes(): Route[] {
  return [
    pageRoute('/join', () => fileReply('html', page)),
    pageRoute('/join/start.js', () => fileReply('js', start)),
  ]
}
