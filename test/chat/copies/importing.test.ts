import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type ImportOptions, importConversation } from '../../../lib/chat/copies/importing.ts'
import { findPeople } from '../../../lib/chat/copies/people.ts'
import { planImport } from '../../../lib/chat/copies/planning.ts'
import { readCopy } from '../../../lib/chat/copies/reading.ts'
import { copyFiles } from '../../../lib/files/copy.ts'
import { openFileStore } from '../../../lib/files/file-store.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { exportConversation } from '../../../lib/storage/archive/conversation-export.ts'
import { USER_COLUMNS } from '../../../lib/storage/archive/conversation-rows.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startThread, type TestService } from '../../support/service.ts'
import { bytesFor, bytesOf, PART, startWithFiles, upload } from '../attachments/files.ts'

async function* assistant() {
  yield 'an '
  yield 'answer'
}

/** A conversation with all that one can have. */
async function startEngines(service: TestService) {
  const started = await startThread(service)
  const { ada, grace, conversation_id, root } = started
  const bytes = await bytesFor(service, grace)
  const file = await upload(grace, bytes, conversation_id, { name: 'notes.bin', content: bytesOf(PART + 1000) })
  const reply = await grace.messages.reply(root.message_id, { content: 'look @ada', attachment_ids: [file] })
  await ada.messages.reply(reply.message_id, { content: 'thanks' })
  await ada.reactions.add(reply.message_id, '👍')
  await grace.messages.edit(reply.message_id, { content: 'look here @ada' })
  await ada.pins.add(root.message_id)
  const other = await grace.messages.postRoot(conversation_id, { content: 'a second thread' })
  const gone = await grace.messages.reply(other.message_id, { content: 'off topic' })
  await ada.messages.remove(gone.message_id, { reason: 'off topic' })
  const ask = { content: 'what?', role: 'assistant' as const, quote_id: reply.message_id }
  const { message_id: variant_of } = await ada.messages.reply(other.message_id, ask)
  await ada.messages.reply(other.message_id, { ...ask, variant_of })
  await service.idle()
  await ada.threads.markRead(root.message_id)
  return { ...started, file, reply, other, bytes }
}

type Engines = Awaited<ReturnType<typeof startEngines>>

async function readAll({ ada, conversation_id }: Engines) {
  const { threads } = await ada.threads.list(conversation_id, { limit: 200 })
  const trees = await Promise.all(threads.map(({ root_id }) => ada.threads.tree(root_id, { limit: 500 })))
  const conversation = await ada.conversations.get(conversation_id)
  // Where streams begin is another place afterwards.
  return {
    threads,
    trees: trees.map(({ messages }) => messages),
    conversation: { ...conversation, stream_position: '' },
  }
}

/** The lines of a conversation, with the bytes of its files in a folder. */
async function copyOf({ chat }: TestService, id: string) {
  const { db } = innerState(chat)
  const { open: files } = innerState(chat).files
  let text = ''
  const { blob_ids } = (await exportConversation(db, id, (lines) => {
    text += lines
  }))!
  const folder = await mkdtemp(join(tmpdir(), 'chat-copy-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const to = openFileStore(`fs:${folder}`)
  await copyFiles(db, { from: await files(), to }, { ids: blob_ids })
  return { text, files: to }
}

async function* linesIn(text: string) {
  yield* text.trimEnd().split('\n')
}

async function bringBack({ chat }: TestService, text: string, options: Partial<ImportOptions> = {}) {
  const ctx = innerState(chat)
  const copy = await readCopy(linesIn(text))
  const signal = new AbortController().signal
  const plan = await planImport(ctx, copy, { wait_ms: 10_000, signal })
  const done = await importConversation(ctx, copy, () => linesIn(text), { people: plan.people, ...options })
  return { plan, done }
}

async function remove(service: TestService, id: string) {
  await service.chat.conversations.removeAny(OPERATOR, id)
  await service.idle()
}

const changed = (text: string, change: (line: { table?: string; row?: Record<string, unknown> }) => void) =>
  text
    .trimEnd()
    .split('\n')
    .map((each) => {
      const line = JSON.parse(each)
      change(line)
      return JSON.stringify(line)
    })
    .join('\n')

describeOnEachDatabase('a conversation', (openUrl, dialect) => {
  const start = async (ports = {}) => {
    const service = await startWithFiles(await openUrl(), { ports: { assistant, ...ports } })
    onTestFinished(() => service.close())
    return service
  }

  it('comes back as it was, with its files, and is searched and unread as before', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { grace, conversation_id, bytes, file } = engines
    const before = await readAll(engines)
    const { text, files } = await copyOf(service, conversation_id)
    for (const secret of ['@example.org', 'password', 'token']) expect(text).not.toContain(`"${secret}`)
    await remove(service, conversation_id)
    const { plan, done } = await bringBack(service, text, { files })
    expect(plan).toMatchObject({ is_there: false, needs_owner: false })
    expect(plan.people.map(({ by }) => by)).toEqual(['id', 'id'])
    expect(done).toEqual({ files: 1, missing: 0 })
    await service.idle()

    const after = await readAll(engines)
    // Notifications do not come back: nothing of it notifies a second time.
    expect(after).toEqual({ ...before, conversation: { ...before.conversation, mentions: 0 } })
    const read = await bytes.read(`/api/attachments/${file}/content`)
    expect(bytesOf(PART + 1000).equals(Buffer.from(await read.arrayBuffer()))).toBe(true)
    expect((await grace.search.messages({ q: 'second' })).results).toHaveLength(1)
    expect((await grace.search.messages({ q: 'notes.bin' })).results).toHaveLength(1)
    await grace.messages.postRoot(conversation_id, { content: 'and goes on' })
    const checked = await service.chat.ops.fsck()
    expect(checked.findings).toEqual([])
    expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
  })

  it('begins another history of its events', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const before = (await engines.ada.conversations.get(engines.conversation_id)).stream_position!
    const { text } = await copyOf(service, engines.conversation_id)
    await remove(service, engines.conversation_id)
    await bringBack(service, text)
    const { chat } = service
    const actor = await chat.users.actor(engines.ada.id)
    const events = chat.events.follow(actor, engines.conversation_id, { last_event_id: before })
    const types: string[] = []
    for await (const { event } of events) {
      types.push(event.type)
      if (types.length === 2) break
    }
    expect(types).toContain('stream.reset')
  })

  it('shows files as gone whose bytes are missing or are others', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text, files } = await copyOf(service, engines.conversation_id)
    for await (const key of files.keys()) if (key.endsWith('/2')) await files.put(key, bytesOf(1000, 'others'))
    await remove(service, engines.conversation_id)
    expect((await bringBack(service, text, { files })).done).toEqual({ files: 0, missing: 1 })
    const { messages } = await engines.ada.threads.tree(engines.root.message_id, { limit: 500 })
    expect(messages.flatMap(({ attachments = [] }) => attachments.map(({ status }) => status))).toEqual(['gone'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('names the users who are there by the id of the host or a verified address, else accounts without a sign-in', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    const other = await start()
    await other.signIn('root')
    await other.chat.users.ensure(OPERATOR, { subject: 'person-7' })
    const known = changed(text, ({ table, row }) => {
      if (table === 'users' && row!.username === 'ada') Object.assign(row!, { subject: 'person-7' })
    })
    const { plan } = await bringBack(other, known)
    expect(plan.people.map(({ by }) => by).sort()).toEqual(['placeholder', 'subject'])
    expect((await other.chat.ops.fsck()).findings).toEqual([])
  })

  it('of an erased user has no name, and without its texts if they were erased, too', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    await remove(service, engines.conversation_id)
    await engines.ada.users.erase(engines.grace.id, { messages: 'erase' })
    await service.idle()
    const { plan } = await bringBack(service, text)
    expect(plan.people.map(({ by }) => by).sort()).toEqual(['erased', 'id'])
    const { trees } = await readAll(engines)
    const all = trees.flat()
    expect(JSON.stringify(all)).not.toContain(engines.grace.id)
    expect(JSON.stringify(all)).not.toContain('look here')
    expect(all.find(({ id }) => id === engines.reply.message_id)).toMatchObject({ content: '' })
    expect(all.some(({ parent_id }) => parent_id === engines.reply.message_id)).toBe(true)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is not brought back where it is, and waits for the end of its removal', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    const signal = new AbortController().signal
    const copy = await readCopy(linesIn(text))
    const ctx = innerState(service)
    expect((await planImport(ctx, copy, { wait_ms: 0, signal })).is_there).toBe(true)
    await ctx.db.run(sql`UPDATE conversations SET deleted_at = 1 WHERE id = ${copy.id}`)
    await expect(planImport(ctx, copy, { wait_ms: 0, signal })).rejects.toThrow('still being removed')
  })

  it('leaves nothing when another conversation has an id of it, or the import is interrupted', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    const { conversation_id } = await engines.ada.conversations.create({ title: 'Others' })
    await remove(service, engines.conversation_id)
    const taken = await engines.ada.messages.postRoot(conversation_id, { content: 'here already' })
    const clash = text.replaceAll(engines.other.message_id, taken.message_id)
    await expect(bringBack(service, clash)).rejects.toThrow('is part of another conversation')
    await service.idle()
    const stop = AbortSignal.abort(new Error('The import was interrupted'))
    await expect(bringBack(service, text, { signal: stop })).rejects.toThrow('interrupted')
    await service.idle()
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT id FROM conversations`)).toEqual([{ id: conversation_id }])
    expect(await db.all(sql`SELECT id FROM messages`)).toEqual([{ id: taken.message_id }])
    await bringBack(service, text)
    expect((await readAll(engines)).threads).toHaveLength(2)
  })

  it('stays when the answer to its last transaction is lost', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    await remove(service, engines.conversation_id)
    const ctx = innerState(service)
    const copy = await readCopy(linesIn(text))
    const people = await findPeople(ctx.db, copy.users)
    const write: typeof ctx.write = async (work, options) => {
      const value = await ctx.write(work, options)
      if (await ctx.db.get(sql`SELECT 1 AS found FROM conversations WHERE id = ${copy.id} AND deleted_at IS NULL`))
        throw new Error('The connection is lost')
      return value
    }
    const lost = importConversation({ ...ctx, write }, copy, () => linesIn(text), { people })
    await expect(lost).rejects.toThrow('The connection is lost')
    await service.idle()
    expect((await readAll(engines)).trees.flat().length).toBeGreaterThan(4)
  })

  it('loses variants of what is no answer in their place', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    await remove(service, engines.conversation_id)
    const forged = changed(text, ({ table, row }) => {
      if (table === 'messages' && row!.variant_of !== null) row!.variant_of = engines.root.message_id
    })
    expect(forged).not.toBe(text)
    await bringBack(service, forged)
    expect(JSON.stringify(await readAll(engines))).not.toMatch(/"variant_of"/)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('loses a quote of a message that is not in it', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    await remove(service, engines.conversation_id)
    const { conversation_id } = await engines.eve.conversations.create()
    const secret = await engines.eve.messages.postRoot(conversation_id, { content: 'secret' })
    const forged = changed(text, ({ table, row }) => {
      if (table === 'messages' && row!.parent_id !== null) row!.quote_id = secret.message_id
    })
    await bringBack(service, forged)
    expect(JSON.stringify(await readAll(engines))).not.toMatch(/secret|"quote"/)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('loses a ref that another conversation has, and a direct one of the same pair is refused', async () => {
    const service = await start()
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const { conversation_id } = await ada.conversations.create({ title: 'Order', ref: 'order/7' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const direct = await ada.conversations.direct({ user_id: grace.id })
    const [order, pair] = [await copyOf(service, conversation_id), await copyOf(service, direct.conversation_id)]
    for (const id of [conversation_id, direct.conversation_id]) await remove(service, id)
    await ada.conversations.create({ title: 'Order again', ref: 'order/7' })
    const shared = await ada.conversations.create({ title: 'Shared' })
    await ada.participants.add(shared.conversation_id, { user_id: grace.id })
    const newer = await ada.conversations.direct({ user_id: grace.id })
    expect((await bringBack(service, order.text)).done).toMatchObject({ ref_taken: 'order/7' })
    await expect(bringBack(service, pair.text)).rejects.toThrow(newer.conversation_id)
    await remove(service, newer.conversation_id)
    await bringBack(service, pair.text)
    expect((await ada.conversations.direct({ user_id: grace.id })).conversation_id).toBe(direct.conversation_id)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('needs another owner when none of its owners has an account', async () => {
    const service = await start()
    const engines = await startEngines(service)
    const { text } = await copyOf(service, engines.conversation_id)
    const other = await start()
    const root = await other.signIn('root')
    const copy = await readCopy(linesIn(text))
    const ctx = innerState(other)
    const signal = new AbortController().signal
    expect((await planImport(ctx, copy, { wait_ms: 0, signal })).needs_owner).toBe(true)
    await bringBack(other, text, { owner_id: root.id })
    const { threads } = await root.threads.list(engines.conversation_id, { limit: 200 })
    expect(threads).toHaveLength(2)
    // The accounts of the first conversation stand for the same people in the next.
    expect((await findPeople(ctx.db, copy.users)).map(({ by }) => by)).toEqual(['id', 'id'])
    expect((await other.chat.ops.fsck()).findings).toEqual([])
  })

  it('is refused as a whole for a row that is no part of it', async () => {
    const service = await start()
    const { conversation_id } = await startEngines(service)
    const { text } = await copyOf(service, conversation_id)
    await remove(service, conversation_id)
    const id = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'
    const wrong: [string, (row: Record<string, unknown>) => void][] = [
      ['messages', (row) => Object.assign(row, { conversation_id: id })],
      ['messages', (row) => Object.assign(row, { root_id: id })],
      ['messages', (row) => Object.assign(row, { quote_id: 'a name' })],
      ['messages', (row) => Object.assign(row, { content: 'x'.repeat(300_000) })],
      ['reactions', (row) => Object.assign(row, { message_id: id })],
      ['participants', (row) => Object.assign(row, { role: 'Emperor' })],
      ['participants', (row) => Object.assign(row, { conversation_id: id })],
      ['attachments', (row) => Object.assign(row, { message_id: id })],
      ['users', (row) => Object.assign(row, { username: ' ' })],
      ['conversations', (row) => Object.assign(row, { deleted_at: 1 })],
    ]
    for (const [name, change] of wrong) {
      const bad = changed(text, ({ table, row }) => {
        if (table === name) change(row!)
      })
      await expect(readCopy(linesIn(bad)), name).rejects.toThrow(/in line \d+ of the archive|does not begin/)
    }
    for (const cut of [text.slice(0, text.lastIndexOf('{"end"')), text.split('\n').slice(1).join('\n'), '{}'])
      await expect(readCopy(linesIn(cut))).rejects.toThrow()
  })

  it('names all users of its tables', async () => {
    const service = await start()
    const { db } = innerState(service)
    const NO_USER =
      /^(id|root_id|parent_id|quote_id|variant_of|conversation_id|message_id|blob_id|thumbnail_blob_id|attachment_id)$/
    const tables = [...Object.keys(USER_COLUMNS), 'threads', 'message_revisions', 'message_chunks']
    for (const table of tables) {
      const columns =
        dialect === 'sqlite'
          ? await db.all<{ name: string }>(sql`SELECT name FROM pragma_table_info(${table})`)
          : await db.all<{ name: string }>(
              sql`SELECT column_name AS name FROM information_schema.columns WHERE table_name = ${table} AND table_schema = current_schema()`,
            )
      const names = columns.map(({ name }) => name).filter((name) => /(_id|_by|_key|^mention(ed|_origins))$/.test(name))
      const others = names.filter((name) => !NO_USER.test(name) && name !== 'emoji_key' && name !== 'title_key')
      expect(others.sort(), table).toEqual(Object.keys(USER_COLUMNS[table] ?? {}).sort())
    }
  })
})
