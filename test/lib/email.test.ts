import t from 'tap'
import { parseEmail } from '../../src/lib/email.ts'

const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.ef`

const emails: [text: string, email: string | null][] = [
  ['User.Name+tag@EXAMPLE.com', 'User.Name+tag@example.com'],
  ["o'neil_{x}@a-b.co.uk", "o'neil_{x}@a-b.co.uk"],
  ['owner@localhost', 'owner@localhost'],
  ['a@MÜNCHEN.de', 'a@xn--mnchen-3ya.de'],
  ['a@mu\u0308nchen.de', 'a@xn--mnchen-3ya.de'],
  ['a@XN--MNCHEN-3YA.DE', 'a@xn--mnchen-3ya.de'],
  ['a@straße.de', 'a@xn--strae-oqa.de'],
  ['a@ISTANBUL.example', 'a@istanbul.example'],
  ['a@例え.テスト', 'a@xn--r8jz45g.xn--zckzah'],
  [longest, longest],
  [`x${longest}`, null],
  [longest.replace('.ef', 'x.ef'), null],
  [`${'a'.repeat(65)}@example.com`, null],
  [`a@${'b'.repeat(64)}.com`, null],
  ...['', '@', 'a', 'a@', '@b.de', 'a@b', 'a@b.de.', 'a@.de', 'a@b..de', 'a@-b.de', 'a@b-.de'].map(noEmail),
  ...['a@127.0.0.1', 'a@１２７.0.0.1', 'a@0x7f.1', 'a@[127.0.0.1]', 'a@b.de/c', 'a@b.de:25'].map(noEmail),
  ...['a@%62.de', 'a@b_c.de', 'a@b。de', 'a@b\u200d.de', 'a@\u00ad.de', 'a@b de'].map(noEmail),
  ...['.a@b.de', 'a.@b.de', 'a..b@b.de', 'a b@b.de', '"a b"@b.de', 'a@b@c.de', 'a\\@b.de'].map(noEmail),
  ...['a,c@b.de', 'a(1)@b.de', 'a;c@b.de', '<a@b.de>', 'a:c@b.de', 'a\r\nBcc:c@b.de', 'a\0@b.de'].map(
    noEmail,
  ),
  ...['\u212aelvin@b.de', 'İ@b.de', 'ı@b.de', 'ſ@b.de', 'ß@b.de', 'a\ud800@b.de'].map(noEmail),
]

function noEmail(text: string): [string, null] {
  return [text, null]
}

for (const [text, email] of emails) {
  t.test(`${JSON.stringify(text).slice(0, 60)} is ${email?.slice(0, 40) ?? 'none'}`, async (t) => {
    t.equal(parseEmail(text), email)
  })
}

t.test('what it has made it leaves as it is', async (t) => {
  for (const [, email] of emails) if (email !== null) t.equal(parseEmail(email), email)
})
