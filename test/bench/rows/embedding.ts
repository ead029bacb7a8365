import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { processFiguresMissing } from '../machine.ts'
import { median, type Round, type Row } from '../row.ts'
import { ROOT, type Server, temporaryFolder } from '../servers/child.ts'
import { startMounted } from '../servers/peers.ts'
import { nodeProgram } from './loading.ts'

const CONNECTIONS = 64

/** Fewer rounds differ by more than what mounting costs. */
const MOUNTED_ROUNDS = 10

const WARM_ROUNDS = 3

/** What the CPU spends on a call of the chat inside of express, beside an empty handler there and the chat alone. */
export const mounted: Row = {
  name: 'mounted',
  title: 'CPU of a call of the chat in express',
  unit: 'µs',
  peer: 'an empty handler in express + the chat alone',
  better: 'lower',
  reach: 1.05,
  beyond: 1,
  unavailable: processFiguresMissing,
  async measure({ rounds, seconds }) {
    const starting = [startMounted('mounted'), startMounted('empty'), startMounted('alone')] as const
    try {
      const [whole, ...parts] = await Promise.all(starting)
      const cpu = async ({ pid, port }: Server, path: string) =>
        cpuMicros(await repeatRequest({ pid, port, requests: [httpRequest('GET', path)] }, CONNECTIONS, seconds))
      const paths = ['/chat/api/setup', '/api/setup']
      const round = async (): Promise<Round> => ({
        service: await cpu(whole, paths[0]!),
        peer: (await cpu(parts[0]!, paths[0]!)) + (await cpu(parts[1]!, paths[1]!)),
      })
      // Not counted: what runs first is compiled meanwhile, and the longest in the server that has most code.
      for (let i = 0; i < WARM_ROUNDS; i++) await round()
      const results: Round[] = []
      for (let i = 0; i < (rounds > 2 ? Math.max(rounds, MOUNTED_ROUNDS) : rounds); i++) results.push(await round())
      return results
    } finally {
      for (const each of await Promise.allSettled(starting)) if (each.status === 'fulfilled') await each.value.stop()
    }
  },
}

/** How long a service in memory takes to start, as each test of a host starts one. */
export const memoryStart: Row = {
  name: 'memory-start',
  title: 'createTestChat with a user, to its first answer',
  unit: 'ms',
  better: 'lower',
  reach: 50,
  beyond: 25,
  async measure({ rounds }) {
    const testing = join(ROOT, 'dist/lib/testing/index.js')
    const results: Round[] = []
    for (let round = 0; round < rounds; round++)
      results.push({ service: median(JSON.parse(await nodeProgram(startsOf(testing))) as number[]) })
    return results
  },
}

/** The first start of a process is left out: it loads what the others share. */
const startsOf = (testing: string) => `
const { createTestChat } = await import(${JSON.stringify(testing)})
const times = []
for (let i = 0; i < 11; i++) {
  const begin = performance.now()
  const { client, close } = await createTestChat({ users: ['ada'] })
  await client('ada').conversations.list()
  times.push(performance.now() - begin)
  await close()
}
console.log(JSON.stringify(times.slice(1)))`

/** How much longer than an empty file three lines with the client take to compile. */
export const clientTypes: Row = {
  name: 'client-types',
  title: 'type-checking three lines with the client, TypeScript 5.9, beyond an empty file',
  unit: 'ms',
  better: 'lower',
  reach: 1000,
  beyond: 500,
  unavailable: () => (existsSync(COMPILER) ? undefined : 'TypeScript 5.9 is not installed: npm ci --prefix test/tools'),
  async measure({ rounds }) {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules/chat-server'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'empty.ts'), 'export {}\n')
    writeFileSync(join(folder, 'client.ts'), THREE_LINES)
    const results: Round[] = []
    for (let round = 0; round < rounds; round++)
      results.push({ service: compile(folder, 'client.ts') - compile(folder, 'empty.ts') })
    return results
  },
}

const COMPILER = join(ROOT, 'test/tools/node_modules/typescript/bin/tsc')

const THREE_LINES = `import { createChatClient } from 'chat-server/client'
const client = createChatClient({ base_url: 'https://chat.example.org' })
export const titles = (await client.conversations.list()).conversations.map(({ title }) => title)
`

function compile(folder: string, file: string): number {
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext']
  const platform = ['--lib', 'es2023,dom,dom.iterable,dom.asynciterable']
  const begin = performance.now()
  const { status, stdout } = spawnSync(process.execPath, [COMPILER, ...flags, ...platform, file], { cwd: folder })
  if (status !== 0) throw new Error(`${file} does not compile: ${stdout}`)
  return performance.now() - begin
}
