import { findStoredEntries } from '../accounts/audit/store.ts'
import { addPosts } from '../chat/messages/posting.ts'
import type { Context } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { assertStarted } from '../core/lifecycle.ts'
import { bindFeatures } from '../features.ts'
import type { Commit } from '../live/transaction/commits.ts'
import { createPending } from '../live/transaction/pending.ts'
import { createWrite } from '../live/transaction/transaction.ts'
import { createWritten } from '../live/transaction/written.ts'
import type { SharedChat } from '../service.ts'
import type { Database } from '../storage/database.ts'
import type { HostDatabase } from '../storage/shared/client.ts'
import { createShare } from '../storage/shared/share.ts'

/** The features whose calls are nothing but statements, so that they can be part of a transaction of the host. */
const SHARED: readonly (keyof SharedChat)[] = [
  'users',
  'conversations',
  'participants',
  'invites',
  'threads',
  'messages',
]

type Written = ReturnType<typeof createWritten>

/** Creates `withTransaction` of a service, and what delivers its events after the commit of the host. */
export function createSharedTransactions(ctx: Context) {
  const share = createShare(ctx.db)
  const pending = createPending(ctx.db, ctx.log)

  async function withTransaction<T>(host: HostDatabase, work: (chat: SharedChat) => Promise<T>): Promise<T> {
    assertStarted(ctx)
    if (typeof work !== 'function')
      throw new TypeError('withTransaction: pass a function: withTransaction(client, async (chat) => …)')
    const afterwards: (() => unknown)[] = []
    const runAll = () => {
      for (const run of afterwards) run()
    }
    const written = createWritten({
      needsEvents: ctx.host.afterEvents.isWanted(),
      findStored: findStoredEntries,
    })
    const runCommitted = async () => {
      runAll()
      await written
        .find(ctx.db)
        .then(ctx.commits.publish, (cause) =>
          ctx.log.warn('Events of a transaction are not passed on to the host', { cause: causeText(cause) }),
        )
    }
    const { value, xid } = await share(host, async (db, xid) => {
      try {
        const value = await work(sharedChat(ctx, db, afterwards, written))
        // Before the commit, so that the events of later transactions are not passed on first.
        if (xid === undefined) {
          const commit = await written.find(db)
          afterwards.push(() => ctx.commits.publish(commit))
        }
        return value
      } finally {
        // Also after an error: the host may commit what was done before it.
        if (xid !== undefined) pending.add(xid, runCommitted)
      }
    })
    if (xid === undefined) runAll()
    return value
  }

  return { withTransaction, pending }
}

function sharedChat(ctx: Context, db: Database, afterwards: (() => unknown)[], written: Written): SharedChat {
  const features = bindFeatures(sharedContext(ctx, db, afterwards, written))
  const chat = Object.fromEntries(SHARED.map((name) => [name, features[name]]))
  const refused = Object.keys(features).filter((name) => !Object.hasOwn(chat, name))
  const refuse = (name: string) => () => {
    throw new ChatError('conflict', {
      message: `withTransaction: chat.${name} cannot be part of a transaction of the host`,
    })
  }
  // Not a silent `undefined`, for callers in JavaScript.
  for (const name of refused) Object.defineProperty(chat, name, { get: refuse(name) })
  return chat as unknown as SharedChat
}

/** The context of a service, on another database: what leaves the process waits for the commit. */
function sharedContext(ctx: Context, db: Database, afterwards: (() => unknown)[], written: Written): Context {
  const later = (run: () => unknown) => void afterwards.push(run)
  const { metrics, now, id } = ctx
  const write = createWrite({
    db,
    metrics,
    now,
    id,
    commits: {
      store: ctx.commits.store,
      publish(commit) {
        written.add(commit)
        later(() => ctx.commits.publish(unverified(commit)))
      },
    },
  })
  const refuseAnswer = (): never => {
    throw new ChatError('conflict', {
      message: 'The assistant cannot be asked in a transaction of the host: ask after the commit.',
    })
  }
  const refuseStream = (): never => {
    throw new ChatError('conflict', {
      message: 'A message cannot be streamed in a transaction of the host: begin after the commit.',
    })
  }
  const { answers, queues, streams } = ctx
  // What a text asks is not asked there.
  const assistants = { ...ctx.assistants, inTexts: false }
  const parts: Partial<Context> = {
    db,
    write,
    assistants,
    queues: {
      ...queues,
      // Not with the posts of others, which are in transactions of the service.
      posts: {
        add: (post) =>
          write(async (tx) => {
            const [result] = await addPosts(ctx, tx, [post], { withoutQuestions: true })
            if (result instanceof ChatError) throw result
            return result!
          }),
        addWithKey: (_user, work) => work(),
      },
    },
    answers: {
      ...answers,
      assertOpen: refuseAnswer,
      assertMayStream: refuseStream,
      ended: (...answer) => later(() => answers.ended(...answer)),
    },
    streams: {
      ...streams,
      receipts: {
        ...streams.receipts,
        moved: (...marker) => later(() => streams.receipts.moved(...marker)),
        movedIn: (...marker) => later(() => streams.receipts.movedIn(...marker)),
      },
      presence: {
        ...streams.presence,
        introduce: async (...joined) => later(() => streams.presence.introduce(...joined)),
      },
    },
  }
  // The others are read where they are used, since a reload replaces some.
  return Object.create(ctx, Object.getOwnPropertyDescriptors(parts)) as Context
}

/** A commit of which nothing is certain: the log is read again, as the host may have rolled back to a savepoint of its own. */
function unverified(commit: Commit): Commit {
  const conversations = new Map([...commit.conversations.keys()].map((id) => [id, []]))
  return { ...commit, conversations, rows: [], ranges: [], audited: [] }
}
