import t from 'tap'
import { grouped } from '../../src/flags/grouped.ts'

/** A group under way: what it was asked, and how it is answered: each question with its letter doubled. */
interface Group {
  readonly questions: readonly string[]
  readonly answer: () => void
}

function open(
  limits: { groupsMax?: number; questionsMax?: number; answersInTurn?: number; waitMsMax?: number } = {},
): {
  groups: Group[]
  ask: (question: string) => Promise<string | null>
} {
  const groups: Group[] = []
  const ask = grouped<string, string>({
    answerAll: (questions) =>
      new Promise((resolve) => {
        groups.push({ questions, answer: () => resolve(questions.map((one) => one + one)) })
      }),
    groupMax: 3,
    groupsMax: 1,
    questionsMax: 100,
    answersInTurn: 100,
    waitMsMax: 10_000,
    ...limits,
  })
  return { groups, ask }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('who comes alone is asked for at once, who comes meanwhile with the next group', async (t) => {
  const { groups, ask } = open()
  const answers = [...'abcdef'].map(ask)
  t.same(groups[0]?.questions, ['a'])
  t.equal(groups.length, 1)
  groups[0]!.answer()
  t.equal(await answers[0], 'aa')
  t.same(groups[1]?.questions, ['b', 'c', 'd'], 'no more than fit into a group')
  groups[1]!.answer()
  t.same(await Promise.all(answers.slice(1, 4)), ['bb', 'cc', 'dd'])
  t.same(groups[2]?.questions, ['e', 'f'])
  groups[2]!.answer()
  t.same(await Promise.all(answers.slice(4)), ['ee', 'ff'])
  void ask('g')
  t.same(groups[3]?.questions, ['g'], 'and then at once again')
  groups[3]!.answer()
})

t.test('as many groups are under way as may be', async (t) => {
  const { groups, ask } = open({ groupsMax: 2 })
  const answers = [...'abcd'].map(ask)
  t.same(
    groups.map(({ questions }) => questions),
    [['a'], ['b']],
  )
  groups[1]!.answer()
  t.equal(await answers[1], 'bb', 'the first need not be first')
  t.same(groups[2]?.questions, ['c', 'd'])
  groups[0]!.answer()
  groups[2]!.answer()
  t.same(await Promise.all(answers), ['aa', 'bb', 'cc', 'dd'])
})

t.test('after as many answers as may come in a row, others get their turn', async (t) => {
  const { groups, ask } = open({ answersInTurn: 2 })
  const first = ask('a')
  const come: (string | null)[] = []
  const others = [...'bcd'].map(async (one) => come.push(await ask(one)))
  groups[0]!.answer()
  await first
  const seenInTurn = turn().then(() => [...come])
  groups[1]!.answer()
  t.same(await seenInTurn, ['bb', 'cc'])
  await Promise.all(others)
  t.same(come, ['bb', 'cc', 'dd'])
})

t.test('what is too late is null, and is not asked for any more', async (t) => {
  const { groups, ask } = open({ waitMsMax: 200, questionsMax: 2 })
  t.same(await Promise.all([ask('a'), ask('b')]), [null, null])
  t.same(groups[0]?.questions, ['a'])
  const next = ask('c')
  groups[0]!.answer()
  await turn()
  t.same(groups[1]?.questions, ['c'], 'b was given up before its turn')
  groups[1]!.answer()
  t.equal(await next, 'cc')
})

t.test('an answer that comes while nobody could hear it is not too late', async (t) => {
  const { groups, ask } = open({ waitMsMax: 5 })
  const answered = ask('a')
  await turn()
  // The timer is over before the loop comes round to the answer.
  setImmediate(groups[0]!.answer)
  for (const untilMs = performance.now() + 10; performance.now() < untilMs; );
  t.equal(await answered, 'aa')
})

t.test('one question more than may be under way is answered null at once', async (t) => {
  const { groups, ask } = open({ questionsMax: 2 })
  const first = ask('a')
  const second = ask('b')
  t.equal(await ask('c'), null)
  groups[0]!.answer()
  t.equal(await first, 'aa')
  const third = ask('d')
  groups[1]!.answer()
  t.equal(await second, 'bb')
  groups[2]!.answer()
  t.equal(await third, 'dd', 'an answer makes room')
})
