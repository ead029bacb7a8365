import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { describeOnEachDatabase, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { settle, signInAt } from './people.ts'
import { type ServerProcess, startProcess } from './process.ts'
import { createRandom, newSeed } from './random.ts'
import { readStarts } from './tool-checks.ts'
import { crashTools, TOOLS_CONFIG } from './tool-crashes.ts'
import { CALLS, GO, HOLD } from './tool-script.ts'

describeOnEachEmptyDatabase('nodes that are killed while they run tools', (openUrl) => {
  it('have started no call twice, and the other goes on within 15 s, as readers saw it', {
    timeout: 180_000,
  }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const figures = await crashTools({ url: await openUrl(), kills: 4, random: createRandom(seed) })
    expect(figures.faults).toEqual([])
    expect(figures.starts).toBeGreaterThan(0)
    expect(figures.longest_ms).toBeGreaterThan(0)
  })
})

describeOnEachDatabase('a node that hangs for longer than its lease while it runs tools', (openUrl) => {
  const servers: ServerProcess[] = []
  const folders: string[] = []

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.kill()))
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
  })

  it('stores no late result and starts nothing: another has gone on', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-tools-'))
    folders.push(folder)
    const effects = join(folder, 'effects')
    await writeFile(effects, '')
    const url = await openUrl()
    const start = async () => {
      const server = await startProcess(url, { config: TOOLS_CONFIG, effects })
      servers.push(server)
      return server
    }
    const hanging = await start()
    const other = await start()
    const { conversation_id, signIn } = await settle(hanging.base_url)
    const ada = await signIn()
    const question = { content: HOLD, role: 'assistant' } as const
    const { message_id } = await ada.messages.postRoot(conversation_id, question)
    const started = () => [...readStarts(effects).values()].flat()
    const returned = () => started().filter(({ name }) => name === 'returned').length
    await vi.waitUntil(() => started().length === CALLS - 1, { timeout: 10_000 })
    hanging.signal('SIGSTOP')

    const eve = await signInAt(other.base_url)
    const read = () => eve.messages.get(message_id)
    await vi.waitUntil(async () => (await read()).status === 'complete', { timeout: 20_000, interval: 100 })
    const chunks = await eve.answers.listChunks(message_id, { limit: 1000 })
    expect((await read()).parts?.flatMap((part) => (part.type === 'tool' ? part.state : []))).toEqual([
      ...Array.from({ length: CALLS - 1 }, () => 'unknown'),
      'done',
    ])
    expect(returned()).toBe(1)

    await appendFile(effects + GO, '')
    hanging.signal('SIGCONT')
    await vi.waitUntil(() => returned() === CALLS, { timeout: 10_000 })
    // It goes on with other answers, so it has done all that it does with those results.
    const { message_id: later } = await ada.messages.postRoot(conversation_id, question)
    await vi.waitUntil(async () => (await ada.messages.get(later)).status === 'complete', { timeout: 20_000 })
    expect(await eve.answers.listChunks(message_id, { limit: 1000 })).toEqual(chunks)
    const calls = (await read()).parts!.flatMap((part) => (part.type === 'tool' ? part.call_id : []))
    const names = calls.map((call_id) =>
      readStarts(effects)
        .get(call_id)!
        .map(({ name }) => name),
    )
    expect(names).toEqual(calls.map(() => ['hold', 'returned']))
  })
})
