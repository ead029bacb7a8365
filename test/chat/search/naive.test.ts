import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person } from '../../support/service.ts'
import { bytesFor, startWithFiles, upload } from '../attachments/files.ts'
import { skipPartition } from './skip-partition.ts'

/** Texts of few words, so that queries meet them. */
const WORDS = ['engine', 'Ödön', 'еще', '北京', '京都', '北', 'ข้าว', '👍', '3', 'steam3', 'eng'] as const
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))

const act = fc.oneof(
  fc.record({ type: fc.constant('post' as const), by: fc.nat(1), place: fc.nat(1), text, file: fc.option(text) }),
  fc.record({ type: fc.constant('edit' as const), pick: fc.nat(50), text, file: fc.option(text), keeps: fc.boolean() }),
  fc.record({ type: fc.constantFrom('remove' as const, 'restore' as const), pick: fc.nat(50) }),
  fc.record({ type: fc.constantFrom('join' as const, 'leave' as const), place: fc.nat(1) }),
  fc.record({ type: fc.constantFrom('move' as const, 'skip' as const) }),
)

/** Whether a message has what is searched for, by its texts: its words and those of the name of each file. */
type Has = (texts: string[][]) => boolean

const anywhere =
  (test: (words: string[]) => boolean): Has =>
  (texts) =>
    texts.some(test)
const word = (wanted: string) => anywhere((words) => hasWord(words, wanted))

/** What is searched for, and what has it, by comparing words that are written the same. */
const QUERIES: [q: string, has: Has][] = [
  ...WORDS.map((each): [string, Has] => [each, word(each)]),
  ['engine -ödön', (texts) => word('engine')(texts) && !word('Ödön')(texts)],
  ['engine 3', (texts) => word('engine')(texts) && word('3')(texts)],
  ['"engine Ödön"', anywhere((words) => words.some((each, n) => each === 'engine' && words[n + 1] === 'Ödön'))],
  ['eng*', anywhere((words) => words.includes('engine') || words.includes('eng'))],
  ['京', anywhere((words) => words.some((each) => each.includes('京')))],
  ['has:file', (texts) => texts.length > 1],
  ['has:file 北京', (texts) => texts.length > 1 && word('北京')(texts)],
]

function hasWord(words: string[], word: string): boolean {
  if (/\p{Script=Han}/u.test(word)) return words.some((each) => each.includes(word))
  return words.includes(word) || (word === '3' && words.includes('steam3'))
}

interface Known {
  id: string
  place: number
  text: string
  /** The name of its file. */
  file: string | undefined
  isDeleted: boolean
}

/** The words of a message, and of the name of its file. */
function textsOf({ text, file }: Known): string[][] {
  return [text, ...(file === undefined ? [] : [file])].map((each) => each.split(' '))
}

describeOnEachDatabase('a search', (openUrl) => {
  it('finds what a look at every message finds, after any history', { timeout: 120_000 }, async () => {
    const service = await startWithFiles(await openUrl(), { config: { search: { per_user_per_min: 100_000 } } })
    onTestFinished(service.close)
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const bytes = new Map([
      [ada, await bytesFor(service, ada)],
      [grace, await bytesFor(service, grace)],
    ])
    const uploaded = async (by: Person, place: string, name: string | null) =>
      name === null ? [] : [await upload(by, bytes.get(by)!, place, { name, content: Buffer.from(name) })]
    const property = fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (acts) => {
      const places = await Promise.all([0, 1].map(async () => (await ada.conversations.create({})).conversation_id))
      const isIn = [false, false]
      const known: Known[] = []
      const live = (by: Person) => known.filter(({ isDeleted, place }) => !isDeleted && (by === ada || isIn[place]))
      for (const each of acts) {
        if (each.type === 'move') await innerState(service).search.move()
        if (each.type === 'skip' && innerState(service).db.dialect === 'sqlite') await skipPartition(service)
        if (each.type === 'join' && !isIn[each.place]) {
          await ada.participants.add(places[each.place]!, { user_id: grace.id })
          isIn[each.place] = true
        }
        if (each.type === 'leave' && isIn[each.place]) {
          await ada.participants.remove(places[each.place]!, grace.id)
          isIn[each.place] = false
        }
        if (each.type === 'post') {
          const by = each.by === 1 && isIn[each.place] ? grace : ada
          const place = places[each.place]!
          const attachment_ids = await uploaded(by, place, each.file)
          const { message_id } = await by.messages.postRoot(place, { content: each.text, attachment_ids })
          known.push({
            id: message_id,
            place: each.place,
            text: each.text,
            file: each.file ?? undefined,
            isDeleted: false,
          })
        }
        const message = 'pick' in each ? known[each.pick % known.length] : undefined
        if (!message) continue
        if (each.type === 'edit' && !message.isDeleted) {
          const { keeps, file, text } = each
          const attachment_ids = keeps ? undefined : await uploaded(ada, places[message.place]!, file)
          await ada.messages.edit(message.id, { content: text, attachment_ids }).then(
            () => Object.assign(message, { text, ...(!keeps && { file: file ?? undefined }) }),
            () => {},
          )
        }
        if (each.type === 'remove' && !message.isDeleted) {
          await ada.messages.remove(message.id)
          message.isDeleted = true
        }
        if (each.type === 'restore' && message.isDeleted) {
          await ada.messages.restore(message.id)
          message.isDeleted = false
        }
      }
      for (const by of [ada, grace])
        for (const [q, has] of QUERIES) {
          const { results } = await by.search.messages({ q, limit: 50 })
          const found = results.filter(({ conversation }) => places.includes(conversation.id))
          const expected = live(by).filter((message) => has(textsOf(message)))
          expect([q, found.map(({ message }) => message.id)]).toEqual([q, expected.map(({ id }) => id).reverse()])
        }
      for (const place of places) await ada.conversations.remove(place)
    })
    await fc.assert(property, { numRuns: Number(process.env.SEARCH_RUNS ?? 5), endOnFailure: true })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
