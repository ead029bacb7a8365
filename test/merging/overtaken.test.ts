import pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { insertMerged } from '../../lib/accounts/users/store-merged.ts'
import type { ErrorCode } from '../../lib/core/errors.ts'
import { type Actor, OPERATOR } from '../../lib/index.ts'
import { createShare } from '../../lib/storage/shared/share.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { startWithFiles } from '../chat/attachments/files.ts'
import { promised } from '../storage/handles.ts'
import { describeService } from '../support/describe-service.ts'
import { innerState, type Person, type TestService } from '../support/service.ts'

type Chat = TestService['chat']

/** The code of the failure of a call, or that it was done. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error) => error.code ?? String(error),
  )

/** A user whose account ends while a call is under way. */
interface Scene {
  id: string
  actor: Actor
  /** A conversation of Ada alone, and an invite into it. */
  empty: string
  invite: string
}

let database: string

describeService(
  'calls that a merge overtakes',
  (url: string) => {
    database = url
    return startWithFiles(url, { config: { bots: { enabled: true } } })
  },
  (service, dialect) => {
    let ada: Person
    let grace: Person
    let boss: Actor
    let answer_id: string
    let conversation_id: string
    let message_id: string
    let room: string
    let n = 0
    beforeAll(async () => {
      ada = await service.signIn('ada')
      grace = await service.signIn('grace')
      boss = await service.chat.users.actor(ada.id)
      conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
      message_id = (await ada.messages.postRoot(conversation_id, { content: 'Hello' })).message_id
      answer_id = (await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })).message_id
      room = (await ada.conversations.create({ title: 'Hall', visibility: 'open', policy: { join: 'anyone' } }))
        .conversation_id
    })

    async function newScene(): Promise<Scene> {
      const name = `eve-${n++}`
      const { user } = await service.chat.users.create(OPERATOR, { username: name, email: `${name}@example.org` })
      await ada.participants.add(conversation_id, { user_id: user.id })
      const { conversation_id: empty } = await ada.conversations.create()
      const { token } = await ada.invites.create(empty)
      return { id: user.id, actor: await service.chat.users.actor(user.id), empty, invite: token! }
    }

    /** Calls of the user itself. */
    const OWN: Record<string, (chat: Chat, scene: Scene) => Promise<unknown>> = {
      'creates a conversation': (chat, { actor }) => chat.conversations.create(actor, { title: 'Mine' }),
      'joins a room': (chat, { actor }) => chat.conversations.join(actor, room),
      'accepts an invite': (chat, { actor, invite }) => chat.invites.accept(actor, {}, { token: invite }),
      'rates an answer': (chat, { actor }) => chat.feedback.set(actor, answer_id, { rating: 'up' }),
      reacts: (chat, { actor }) => chat.reactions.add(actor, message_id, '👍'),
      posts: (chat, { actor }) => chat.messages.postRoot(actor, conversation_id, { content: 'Hi' }),
      'opens a direct conversation': (chat, { actor }) => chat.conversations.direct(actor, { user_id: ada.id }),
      'creates a key': (chat, { actor }) => chat.keys.create(actor, { name: 'mine' }),
      'creates a bot': (chat, { actor }) => chat.bots.create(actor, { username: `bot-${n++}` }),
      'uploads a file': (chat, { actor }) =>
        chat.attachments.upload(actor, conversation_id, { name: 'a.txt', bytes: new TextEncoder().encode('Hello') }),
    }

    it.each(Object.keys(OWN))('belong to no session any more, when a user %s', async (name) => {
      const scene = await newScene()
      const { chat } = service
      await chat.users.merge(OPERATOR, { from: { user_id: scene.id }, into: { user_id: grace.id } })
      // The actor was there when the call began.
      expect(await outcomeOf(OWN[name]!(chat, scene))).toBe('unauthenticated')
      expect((await chat.ops.fsck()).findings).toEqual([])
    })

    it('know no such user, when another one adds it meanwhile', async () => {
      const scene = await newScene()
      const { chat } = service
      const rooms = await Promise.all([1, 2, 3, 4].map(() => ada.conversations.create()))
      const merging = chat.users.merge(OPERATOR, { from: { user_id: scene.id }, into: { user_id: grace.id } })
      const codes = await Promise.all(
        rooms.map(({ conversation_id }) =>
          outcomeOf(chat.participants.add(boss, conversation_id, { user_id: scene.id })),
        ),
      )
      await merging
      expect(codes.filter((code) => code !== 'done' && code !== 'not_found')).toEqual([])
      expect((await chat.ops.fsck()).findings).toEqual([])
    })

    describe('a reference that is missing', () => {
      /** What the database says about a participant who is no user. */
      const failureOf = (id: string) =>
        innerState(service)
          .db.run(
            sql`UPDATE participants SET user_id = ${id} WHERE user_id = ${ada.id} AND conversation_id = ${conversation_id}`,
          )
          .then(
            () => undefined,
            (error: unknown) => error,
          )
      const explained = (error: unknown, args: unknown[], actor: Actor = boss, errors: ErrorCode[] = ['not_found']) => {
        const ctx = innerState(service)
        return ctx.accounts.explain(ctx, { actor, args, errors }, error)
      }

      it('is a fault where no user of the call has ended', async () => {
        const error = await failureOf('nobody')
        expect(error).toBeInstanceOf(Error)
        for (const actor of [boss, OPERATOR])
          expect(await explained(error, [conversation_id, { user_id: grace.id }], actor)).toBe(error)
      })

      it('is that of a user who was merged, where the call has this failure', async () => {
        const { id } = await newScene()
        await service.chat.users.merge(OPERATOR, { from: { user_id: id }, into: { user_id: grace.id } })
        const error = await failureOf(id)
        const named = [conversation_id, { participants: [{ user_id: id }] }]
        expect(await explained(error, named)).toMatchObject({ code: 'not_found', cause: error })
        expect(await explained(error, named, OPERATOR)).toMatchObject({ code: 'not_found' })
        expect(await explained(error, named, boss, ['conflict'])).toBe(error)
        // Users that a text mentions, and whom a call notifies, are not among what it was given: PostgreSQL names them.
        const unnamed = await explained(error, [conversation_id])
        if (dialect === 'postgresql') expect(unnamed).toMatchObject({ code: 'not_found' })
        else expect(unnamed).toBe(error)
      })

      it.runIf(dialect === 'postgresql')('is no end of a user whom a transaction of the host makes', async () => {
        const client = new pg.Client(database)
        await client.connect()
        onTestFinished(() => client.end())
        const error = await failureOf('nobody')
        await client.query('BEGIN')
        const { user } = await service.chat.withTransaction(client, (shared) =>
          shared.users.ensure(OPERATOR, { subject: 'new', username: 'new' }),
        )
        const ctx = innerState(service)
        const call = { actor: { ...boss, user_id: user.id }, args: [], errors: [] }
        const within = await createShare(ctx.db)(client, (db) => ctx.accounts.explain({ ...ctx, db }, call, error))
        expect(within.value).toBe(error)
        expect(await ctx.accounts.explain(ctx, call, error)).toMatchObject({ code: 'unauthenticated' })
        await client.query('ROLLBACK')
      })
    })

    /** What a call answers whose user is deleted in a transaction that the call does not see, until it waits for its end. */
    async function overtaken(scene: Scene, call: () => Promise<unknown>): Promise<string> {
      const { db, write } = innerState(service)
      const [deleted, finish] = [promised(), promised()]
      const deleting = write(async (tx) => {
        // As a merge does it.
        const moved = { messages: 0, conversations: 0 }
        const merged = { from_id: scene.id, into_id: grace.id, subject: null, token_hash: null, merged_at: 1, ...moved }
        await insertMerged(tx, merged)
        await tx.run(sql`DELETE FROM users WHERE id = ${scene.id}`)
        deleted.resolve()
        await finish.promise
      })
      await deleted.promise
      let isOver = false
      const calling = outcomeOf(call()).finally(() => (isOver = true))
      const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      while (!isOver && !(await db.get(statement(waits))));
      finish.resolve()
      await deleting
      return calling
    }

    describe.runIf(dialect === 'postgresql')('while they wait for its end', () => {
      const waiting = Object.keys(OWN).filter((name) => name !== 'uploads a file')
      it.each(waiting)('belong to no session any more, when a user %s', async (name) => {
        const scene = await newScene()
        expect(await overtaken(scene, () => OWN[name]!(service.chat, scene))).toBe('unauthenticated')
      })

      it('know no such user, when another one adds it', async () => {
        const scene = await newScene()
        const adding = () => service.chat.participants.add(boss, scene.empty, { user_id: scene.id })
        expect(await overtaken(scene, adding)).toBe('not_found')
      })
    })
  },
)
