import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertSilently } from '../../../lib/chat/notifications/store-all.ts'
import { removeOfMessages } from '../../../lib/chat/notifications/store-removing.ts'
import type { Storage } from '../../../lib/index.ts'
import type { Writing } from '../../../lib/storage/database.ts'
import type { Sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { innerState, type Person, startService, type TestService, times } from '../../support/service.ts'

/** The statements of each transaction of the service. */
const transactions: string[][] = []

function recording({ db, ...storage }: Storage): Storage {
  function recorded(tx: Writing): Writing {
    const statements: string[] = []
    transactions.push(statements)
    const noted = (sql: Sql) => {
      statements.push(sql.text)
      return sql
    }
    return {
      ...tx,
      all: (sql) => tx.all(noted(sql)),
      get: (sql) => tx.get(noted(sql)),
      run: (sql) => tx.run(noted(sql)),
    }
  }
  return { ...storage, db: { ...db, write: (work, options) => db.write((tx) => work(recorded(tx)), options) } }
}

describeOnEachDatabase('the statements of a post', (openUrl, dialect) => {
  let service: TestService
  let ada: Person
  let grace: Person
  let conversation_id: string
  beforeAll(async () => {
    // Search adds one statement, and others later.
    // Messages can have files, which cost nothing where there are none.
    const config = { search: { enabled: false }, attachments: await filesInFolder() }
    service = await startService(await openUrl(), { wrap: recording, config })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })
  afterAll(() => service.close())

  async function statementsOf<T>(post: () => Promise<T>): Promise<[posted: T, made: string[]]> {
    await service.idle()
    transactions.length = 0
    const posted = await post()
    // Those of jobs, which run at intervals, are about neither.
    const own = transactions.filter((each) => each.some((sql) => /\b(messages|notifications)\b/.test(sql)))
    return [posted, own.flat().filter((sql) => !/ tasks /.test(sql))]
  }

  /** What SQLite does in two statements, the numbers of the events and the events, is one of PostgreSQL. */
  const atEnd = dialect === 'sqlite' ? 2 : 1

  /** On PostgreSQL, the changes of the rows of a post are one statement. */
  const changes = (count: number) => (dialect === 'sqlite' ? count : 1)

  /** On PostgreSQL, the session with which a process has been called before is read in the transaction. */
  const session = dialect === 'sqlite' ? 0 : 1

  it('are the same as ever for a root and a reply to one’s own message without an @', async () => {
    const [{ message_id }, root] = await statementsOf(() =>
      ada.messages.postRoot(conversation_id, { content: 'No name' }),
    )
    // Of two nodes, each has stored one.
    await ada.messages.postRoot(conversation_id, { content: 'No name, either' })
    const [, next] = await statementsOf(() => ada.messages.postRoot(conversation_id, { content: 'No name, again' }))
    const [, reply] = await statementsOf(() => ada.messages.reply(message_id, { content: 'No name, either' }))
    // The place; the thread, the message, and the counts of the author in the thread and in the conversation.
    expect(root).toHaveLength(session + 1 + changes(4) + atEnd)
    // PostgreSQL does all of it in one where the user has posted before.
    expect(next).toHaveLength(dialect === 'sqlite' ? root.length : 1)
    // The place, the parent, the followers; the message, and the counts of the parent, the thread, and of the author; the lists,
    // and the numbers, of those who follow the thread.
    expect(reply).toHaveLength(session + 3 + changes(5) + changes(2) + atEnd)
    expect([...root, ...reply].filter((sql) => /INTO (notifications|mentions)/.test(sql))).toEqual([])
  })

  it('are one more for the names of a text, and few for a notification', async () => {
    const [{ message_id }, named] = await statementsOf(() =>
      ada.messages.postRoot(conversation_id, { content: 'To @nobody' }),
    )
    expect(named).toHaveLength(session + 2 + changes(4) + atEnd)
    const [, reply] = await statementsOf(() => grace.messages.reply(message_id, { content: 'For ada' }))
    // With the first reply grace follows the thread: the event says how much of it is unread. The followers are read; their
    // lists and numbers, and the notification with its count, are stored.
    expect(reply).toHaveLength(3 + changes(5) + changes(2) + 1 + atEnd + (dialect === 'sqlite' ? 2 : 1))
  })

  it('are few for the removal of a notification of many users', async () => {
    const { message_id: id } = await ada.messages.postRoot(conversation_id, { content: 'To all' })
    const { write, now } = innerState(service)
    const users = times(50, (n) => `user ${n}`)
    await write((tx) => insertSilently(tx, { id, at: now(), read_at: null, hidden: 0 }, users))
    const [, removal] = await statementsOf(() => write((tx) => removeOfMessages(tx, [id])))
    expect(removal).toHaveLength(5)
  })
})
