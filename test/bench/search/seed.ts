import { childPath, ROOT_PATH } from '../../../lib/chat/messages/rules.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { onRows } from '../../../lib/storage/on-rows.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'
import { type Corpus, createCorpus } from './corpus.ts'

/** The conversations, and every how many one is the reader's, too. */
const CONVERSATIONS = 1_000
const READ_EACH = 10

/** The messages of a transaction. */
const BATCH = 1_000

const INSERT = onRows(
  {
    id: 'text',
    conversation_id: 'text',
    root_id: 'text',
    posted_by: 'text',
    content: 'text',
    path: 'text',
    created_at: 'bigint',
  } as const,
  (given) =>
    sql`INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, status, created_at)
     SELECT id, conversation_id, root_id, root_id, posted_by, 'user', content, path, 1, 'complete', created_at FROM ${given}`,
)

/** The next reply gets a path that no message has. */
const COUNT = onRows(
  { id: 'text', replies: 'bigint' } as const,
  (given) => sql`UPDATE messages SET reply_count = given.replies FROM ${given} WHERE messages.id = given.id`,
)

/** What can be searched. */
export interface Searchable {
  corpus: Corpus
  reader: Person
  /** The conversations of the reader, the largest first. */
  places: Place[]
  /** The bytes of all texts. */
  content: number
}

/** Fills a new database with so many messages, which the index of the search does not have: a service then fills it. */
export async function seedSearch(database: string, messages: number): Promise<Searchable> {
  const isRead = (n: number) => n % READ_EACH === 0
  const groups = numbers(CONVERSATIONS).map((n) => (isRead(n) ? [0, 1] : [0]))
  const { people, places } = await createPeople(database, 2, groups)
  const [author, reader] = people as [Person, Person]
  const corpus = createCorpus()
  const ordinals = places.map(() => 0)
  let content = 0
  await withChat(database, async (chat) => {
    const { db, id, now } = contextOf(chat)
    const since = now()
    const newMessage = (n: number) => {
      const { text, conversation } = corpus.message()
      content += Buffer.byteLength(text)
      const path = childPath(ROOT_PATH, ordinals[conversation]!++)
      return {
        id: id(),
        ...places[conversation]!,
        posted_by: author.user_id,
        content: text,
        path,
        created_at: since + n,
      }
    }
    for (let n = 0; n < messages; n += BATCH)
      await db.write((tx) =>
        INSERT.run(
          tx,
          numbers(BATCH).map((k) => newMessage(n + k)),
        ),
      )
    await COUNT.run(
      db,
      places.map(({ root_id }, n) => ({ id: root_id, replies: ordinals[n]! })),
    )
    await chat.search.rebuild(OPERATOR, { from_scratch: true })
  })
  return { corpus, reader, places: places.filter((_, n) => isRead(n)), content }
}
