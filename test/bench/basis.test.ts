import t from 'tap'
import { basisTexts, drawBasis, PatchableText } from '../../bench/basis.ts'
import { createCorpus } from '../../bench/corpus.ts'
import { workloadNamed } from '../../bench/workload.ts'

t.test('a number between the slots of a text makes it what patching makes it', async (t) => {
  const corpus = createCorpus(1, 'phc_basisTest')
  for (const name of ['w1', 'w2']) {
    const texts = basisTexts(drawBasis(corpus, workloadNamed(name), 3))
    const slots = new PatchableText(texts.join()).slots()
    t.ok(slots.length > texts.length, 'each event has a uuid')
    t.equal(slots.join('0a1b2c'), new PatchableText(texts.join()).patch(0x0a1b2c).toString())
  }
  t.same(new PatchableText('no uuid').slots(), ['no uuid'])
})
