import t from 'tap'
import { writeElementsChain } from '../../src/capture/elements-chain.ts'
import { openScan } from '../../src/capture/scan.ts'
import { TextArena } from '../../src/capture/text-arena.ts'

function chain(elements: unknown, bytesMax = 10_000): string | null {
  const arena = new TextArena(8)
  const scan = openScan(new Uint8Array(Buffer.from(JSON.stringify(elements))), true)
  if (!writeElementsChain(scan, 0, arena, bytesMax)) return null
  return Buffer.from(arena.bytes.subarray(0, arena.size)).toString()
}

t.test('prints elements as PostHog does', async (t) => {
  t.equal(
    chain([
      {
        tag_name: 'a',
        $el_text: 'Go "now"',
        attr__href: '/x?a=1',
        attr__class: 'btn primary a"b',
        attr__id: 'go',
        'attr__data-id': 5,
        nth_child: 1,
        nth_of_type: 2,
      },
      { tag_name: 'div' },
    ]),
    'a.ab.btn.primary:attr__class="btn primary a\\"b"attr__data-id="5"attr__href="/x?a=1"attr__id="go"' +
      'attr_id="go"href="/x?a=1"nth-child="1"nth-of-type="2"text="Go \\"now\\"";div:nth-child="0"nth-of-type="0"',
  )
})

t.test('takes classes from a list too', async (t) => {
  t.equal(chain([{ tag_name: 'p', attr__class: ['z', 'a'] }]), 'p.a.z:nth-child="0"nth-of-type="0"')
})

t.test('cuts texts and addresses', async (t) => {
  t.match(chain([{ $el_text: 'x'.repeat(500) }]), /text="x{400}"$/)
  t.match(chain([{ attr__href: 'y'.repeat(3000) }]), /href="y{3000}"href="y{2048}"/)
})

t.test('leaves out what is no element or has no value', async (t) => {
  t.equal(
    chain([1, null, { tag_name: 'a', attr__x: null, attr__y: {} }, []]),
    'a:nth-child="0"nth-of-type="0"',
  )
  t.equal(chain([]), '')
})

t.test('stops when the chain gets too long', async (t) => {
  const one = ':nth-child="0"nth-of-type="0"'
  t.equal(chain([{}, {}], one.length * 2 + 1), `${one};${one}`)
  t.equal(chain([{}, {}], one.length * 2), null)
  t.equal(chain(new Array(1_000_000).fill({}), 1000), null)
})
