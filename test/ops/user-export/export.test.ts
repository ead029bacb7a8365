import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { exportUser } from '../../../lib/ops/user-export/export.ts'
import { OTHER_TABLES, OWN_ROWS } from '../../../lib/ops/user-export/tables.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { shapeAfter } from '../../../lib/storage/schema/shape.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { bytesFor, bytesOf, PART, PNG, startWithFiles, upload } from '../../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'

const LONG = { timeout: 120_000 }

it('each table of the schema is exported, or has a reason why not', () => {
  const tables = (['sqlite', 'postgresql'] as const).flatMap((dialect) => [
    ...shapeAfter(MIGRATIONS.length, dialect).tables.keys(),
  ])
  const read = Object.values(OWN_ROWS).map(({ table }) => table)
  // A new table: say in lib/ops/user-export/tables.ts what of it belongs to a user, or why nothing does.
  expect(tables.filter((table) => !read.includes(table) && !(table in OTHER_TABLES))).toEqual([])
  expect(Object.keys(OTHER_TABLES).filter((table) => !tables.includes(table))).toEqual([])
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-user-export-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** All texts of a folder, by path. */
function textsIn(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => statSync(join(folder, path)).isFile())
  return new Map(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

describeOnEachDatabase('the export of a user', (openUrl) => {
  it('has all of the user, of others only who was answered and when, and nothing deleted', LONG, async () => {
    const service = await startWithFiles(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const { conversation_id } = await ada.conversations.create({ title: 'canary-title of ada' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const root = await ada.messages.postRoot(conversation_id, { content: 'canary-text of ada' })
    const content = '<script>alert("own")</script> & more'
    const { message } = await grace.messages.reply(root.message_id, { content: 'canary-first version' })
    await grace.messages.edit(message.id, { content })
    const gone = await grace.messages.reply(root.message_id, { content: 'canary-deleted' })
    await grace.messages.remove(gone.message.id)
    const removed = await grace.messages.reply(root.message_id, { content: 'canary-removed by ada' })
    await ada.messages.remove(removed.message.id)
    await grace.reactions.add(root.message_id, '👍')
    await service.chat.keys.create(await service.chat.users.actor(grace.id), { name: 'my script' })
    const bytes = await bytesFor(service, grace)
    const large = bytesOf(PART + 5, 'large')
    const file = await upload(grace, bytes, conversation_id, { name: '..evil.exe', content: large })
    const left = await ada.messages.postRoot(conversation_id, { content: 'Not for all' })
    await grace.threads.unfollow(left.root_id)
    const picture = await upload(grace, bytes, conversation_id, { name: 'me.html', content: PNG })
    await grace.messages.reply(root.message_id, {
      content: 'files',
      generated: true,
      attachment_ids: [file, picture],
      quote_id: root.message_id,
    })
    await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'canary-file of ada' })
    await grace.conversations.markRead(conversation_id, { all: true })

    const folder = join(newFolder(), 'grace')
    const done = await exportUser(innerState(service), grace.id, folder)
    expect(done).toEqual({ messages: 2, files: 2, missing: 0 })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const texts = textsIn(folder)
    for (const path of texts.keys()) expect([path, statSync(join(folder, path)).mode & 0o077]).toEqual([path, 0])
    const json = (path: string) => JSON.parse(texts.get(path)!)
    expect(json('account.json')).toMatchObject([{ id: grace.id, username: 'grace', email: 'grace@example.org' }])
    expect(json('sessions.json')).toHaveLength(1)
    expect(json('keys.json')).toMatchObject([{ name: 'my script' }, { name: 'files' }])
    expect(json('reactions.json')).toMatchObject([{ message_id: root.message_id, emoji: '👍' }])
    const at = expect.stringMatching(/^20/)
    expect(json('conversations.json')).toMatchObject([{ conversation_id, replies_read_at: at, roots_read_at: at }])
    expect(json('read_markers.json')).toEqual(
      expect.arrayContaining([
        { root_id: root.message_id, followed_at: at },
        { root_id: left.root_id, unfollowed_at: at },
      ]),
    )
    const acts = json('audit.json').map(({ act, relation }: { act: string; relation: string }) => [act, relation])
    expect(acts).toContainEqual(['user.created', 'about'])
    expect(acts).toContainEqual(['message.deleted', 'about'])
    expect(new Set(json('audit.json').map(({ id }: { id: string }) => id)).size).toBe(acts.length)
    expect(json(`conversations/1-${conversation_id}.json`)).toMatchObject([
      {
        content,
        earlier: [{ content: 'canary-first version' }],
        answers: { author: 'ada', created_at: expect.stringMatching(/^20/) },
      },
      { content: 'files', generated: true, quotes: { author: 'ada', created_at: expect.stringMatching(/^20/) } },
    ])
    const files = json('files.json')
    expect(files).toMatchObject([
      { name: expect.stringContaining('evil.exe'), file: `files/1-${file}.bin` },
      { name: 'me.html', type: 'image/png', file: `files/2-${picture}.png` },
    ])
    expect(large.equals(readFileSync(join(folder, files[0].file)))).toBe(true)

    const all = [...texts].map(([path, text]) => path + text).join('\n')
    for (const other of ['canary-text', 'canary-title', 'canary-deleted', 'canary-file', 'password_hash', 'key_hash'])
      expect([other, all.includes(other)]).toEqual([other, false])
    const page = texts.get('index.html')!
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(page).toContain('&lt;script&gt;alert(&quot;own&quot;)&lt;/script&gt; &amp; more')
    expect(page).not.toContain('<script')
    expect(page).toContain(`<a href="files/1-${file}.bin">`)
  })

  it('has when a guest was seen last, also without a session', LONG, async () => {
    const service = await startService(await openUrl(), { config: { guests: { enabled: true } } })
    onTestFinished(() => service.close())
    const { user } = await service.chat.guests.create({}, { token: true })
    const used_at = Date.UTC(2026, 0, 2) * 1000
    await innerState(service).db.run(sql`UPDATE users SET used_at = ${used_at} WHERE id = ${user.id}`)
    const folder = join(newFolder(), 'guest')
    await exportUser(innerState(service), user.id, folder)
    expect(JSON.parse(readFileSync(join(folder, 'account.json'), 'utf8'))).toMatchObject([
      { id: user.id, kind: 'guest', last_seen_at: '2026-01-02T00:00:00.000000Z' },
    ])
  })

  it('reads many messages a page at a time, and tells how far it is', LONG, async () => {
    const service = await startWithFiles(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const conversations = await Promise.all(times(3, () => ada.conversations.create()))
    const { db } = innerState(service)
    const posts = await Promise.all(
      conversations.map(({ conversation_id }) => ada.messages.postRoot(conversation_id, { content: 'first' })),
    )
    await db.run(
      sql`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
       INSERT INTO messages (id, conversation_id, root_id, posted_by, role, content, path, depth, status, created_at)
       SELECT 'copy-' || CAST(1000000 + n AS TEXT), conversation_id, root_id, posted_by, role, 'copy', 'zz' || CAST(n AS TEXT), 1, status, created_at
         FROM messages, numbers WHERE id = ${posts[0]!.message_id}`,
    )
    const folder = join(newFolder(), 'ada')
    const seen: number[] = []
    const done = await exportUser(innerState(service), ada.id, folder, {
      onProgress: (_, looked_at) => void seen.push(looked_at),
    })
    expect(done.messages).toBe(1203)
    expect([Math.max(...seen), new Set(seen).size > 2]).toEqual([1203, true])
    const lists = readdirSync(join(folder, 'conversations')).map(
      (name) => JSON.parse(readFileSync(join(folder, 'conversations', name), 'utf8')).length as number,
    )
    expect(lists.sort((a, b) => a - b)).toEqual([1, 1, 1201])
  })

  it('writes nothing into a folder with files, and leaves nothing when it is interrupted', LONG, async () => {
    const service = await startWithFiles(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const folder = newFolder()
    writeFileSync(join(folder, 'mine.txt'), 'mine')
    await expect(exportUser(innerState(service), ada.id, folder)).rejects.toThrow('is not empty')
    expect(readdirSync(folder)).toEqual(['mine.txt'])
    rmSync(join(folder, 'mine.txt'))
    const signal = AbortSignal.abort(new Error('interrupted'))
    await expect(exportUser(innerState(service), ada.id, folder, { signal })).rejects.toThrow('interrupted')
    expect(readdirSync(folder)).toEqual([])
  })

  it('names a file whose bytes are lost, and goes on', LONG, async () => {
    const service = await startWithFiles(await openUrl())
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const bytes = await bytesFor(service, ada)
    const lost = await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'lost') })
    const kept = await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'kept') })
    const row = await innerState(service).db.get<{ blob_id: string }>(
      sql`SELECT blob_id FROM attachments WHERE id = ${lost}`,
    )
    await (await innerState(service).files.open()).remove(`${row!.blob_id}/1`)
    const folder = join(newFolder(), 'ada')
    expect(await exportUser(innerState(service), ada.id, folder)).toMatchObject({ files: 1, missing: 1 })
    expect(JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8'))).toMatchObject([
      { id: lost, missing: true },
      { id: kept, file: `files/2-${kept}.bin` },
    ])
    expect(readdirSync(join(folder, 'files'))).toEqual([`2-${kept}.bin`])
  })
})
