// Questions that are cheaper together, as with a group commit: whoever comes while a group is being answered waits and
// becomes part of the next. Nobody waits for others to come, so who comes alone is answered as fast as without this.

import { setImmediate } from 'node:timers/promises'

export interface GroupedOptions<Question, Answer> {
  /** Answers in the order of the questions. Must not reject. */
  readonly answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>
  /** Questions in a group. */
  readonly groupMax: number
  /** Groups that are answered at a time. */
  readonly groupsMax: number
  /** Questions that wait or are being answered. */
  readonly questionsMax: number
  /** Answers handed out in a row: whoever waits for them goes on at once, and others shall get their turn. */
  readonly answersInTurn: number
  /** An answer later than this is of no use (ms). */
  readonly waitMsMax: number
}

interface Asked<Question, Answer> {
  readonly question: Question
  /** Null once it is answered or given up. */
  resolve: ((answer: Answer | null) => void) | null
}

/** Returns the function that asks. It resolves to null when it is too late, or when too many have asked. */
export function grouped<Question, Answer>(
  options: GroupedOptions<Question, Answer>,
): (question: Question) => Promise<Answer | null> {
  const { answerAll, groupMax, groupsMax, questionsMax, answersInTurn, waitMsMax } = options
  let waiting: Asked<Question, Answer>[] = []
  let groups = 0
  let questions = 0

  const answerGroup = async (group: readonly Asked<Question, Answer>[]): Promise<void> => {
    groups++
    const answers = await answerAll(group.map(({ question }) => question))
    groups--
    questions -= group.length
    // Before the answers are worked on: the next group is on its way meanwhile.
    startGroups()
    for (let index = 0; index < group.length; index++) {
      if (index > 0 && index % answersInTurn === 0) await setImmediate()
      group[index]!.resolve?.(answers[index]!)
    }
  }
  const startGroups = (): void => {
    while (groups < groupsMax && waiting.length > 0) {
      const group = waiting.slice(0, groupMax)
      waiting = waiting.slice(groupMax)
      void answerGroup(group)
    }
  }
  return (question) => {
    if (questions >= questionsMax) return Promise.resolve(null)
    questions++
    return new Promise((resolve) => {
      const asked: Asked<Question, Answer> = { question, resolve: null }
      const giveUp = (): void => {
        if (asked.resolve === null) return
        asked.resolve = null
        const before = waiting.length
        waiting = waiting.filter((one) => one !== asked)
        if (waiting.length < before) questions--
        resolve(null)
      }
      // One turn later: an answer may have come while this process stood still, and timers run before it is read.
      const timer = setTimeout(() => void setImmediate().then(giveUp), waitMsMax)
      asked.resolve = (answer) => {
        clearTimeout(timer)
        asked.resolve = null
        resolve(answer)
      }
      waiting.push(asked)
      startGroups()
    })
  }
}
