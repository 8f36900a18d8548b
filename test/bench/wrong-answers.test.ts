import t from 'tap'
import { WrongAnswers, wrongStatus } from '../../bench/wrong-answers.ts'

t.test('wrong answers are told by kind, the most frequent first, each with its first one', async (t) => {
  const wrong = new WrongAnswers()
  wrong.note(wrongStatus(null, Buffer.from('')))
  wrong.note(wrongStatus(503, Buffer.from('later')))
  wrong.note(wrongStatus(503, Buffer.from('x'.repeat(1000))))
  wrong.note({ kind: 'without some', sample: '3 of 10 flags absent', isLate: true })
  t.same(wrong.describe('decide'), {
    broken: ['decide: 2 × status 503, first "later"', 'decide: 1 × no answer, first ""'],
    slow: ['decide: 1 × without some, first 3 of 10 flags absent'],
  })
})

t.test('a long answer is told by its beginning', async (t) => {
  const wrong = new WrongAnswers()
  wrong.note(wrongStatus(500, Buffer.from('x'.repeat(1000))))
  const [line] = wrong.describe('decide').broken
  t.equal(line, `decide: 1 × status 500, first "${'x'.repeat(299)}…`)
})
