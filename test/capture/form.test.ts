import t from 'tap'
import { isFormType, looksLikeForm, parseForm } from '../../src/capture/form.ts'

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text))
}

t.test('compares the media type, not the header', async (t) => {
  t.equal(isFormType('application/x-www-form-urlencoded'), true)
  t.equal(isFormType('Application/X-WWW-Form-Urlencoded ;charset=utf-8'), true)
  t.equal(isFormType('application/json'), false)
  t.equal(isFormType(''), false)
})

t.test('recognises a form by a known field within its first 128 bytes', async (t) => {
  t.equal(looksLikeForm(bytes('data=x')), true)
  t.equal(looksLikeForm(bytes('ver=1&_=17')), true)
  t.equal(looksLikeForm(bytes('xdata=1')), false)
  t.equal(looksLikeForm(bytes('{"a":"&data="}')), true, 'a liar, which the form decoder then refuses')
  t.equal(looksLikeForm(bytes(`${'x'.repeat(122)}&data=`)), true)
  t.equal(looksLikeForm(bytes(`${'x'.repeat(123)}&data=`)), false)
})

t.test('reads data and compression, the first of each', async (t) => {
  const form = parseForm(bytes('ver=1&data=%7B%22a%22%3A1%7D&compression=lz64&data=x&compression=gzip&flag'))
  t.equal(Buffer.from(form.data ?? []).toString(), '{"a":1}')
  t.equal(form.compression, 'lz64')
})

t.test('tells an empty field from an absent one', async (t) => {
  t.same(parseForm(bytes('data=')), { data: new Uint8Array(0), compression: '' })
  t.same(parseForm(bytes('ip=1')), { data: null, compression: '' })
})

t.test('decodes bytes that are not text', async (t) => {
  t.same(parseForm(bytes('data=%1F%8b%08%00%FF')).data, new Uint8Array([0x1f, 0x8b, 0x08, 0, 0xff]))
})
