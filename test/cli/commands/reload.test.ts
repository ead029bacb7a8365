import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { copyPostgresDatabase } from '../../support/databases.ts'
import { folder, run } from '../process.ts'
import { logged, type Serving, serve } from '../serving.ts'

const LONG = { timeout: 180_000 }
const FAST = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__POOL_SIZE: '3' }
const env = { ...FAST, CHAT_DATABASE__URL: 'sqlite:chat.db' }

const FIRST = '[log]\nlevel = "info"\n'
const SECOND =
  '[log]\nlevel = "debug"\nrequests = "all"\n\n[metrics]\ntoken = "secret"\n\n[session]\nidle_seconds = 60\n'
const BAD = '[log]\nlevel = "loud"\n\n[limits]\nmax_depht = 3\n'
const CHANGED = { changed: ['metrics.token', 'log.level', 'log.requests'], needs_restart: ['session.idle_seconds'] }

const write = (cwd: string, text: string) => writeFileSync(join(cwd, 'chat-server.toml'), text)
const workersOf = ({ child: { pid } }: Serving) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
const metricsStatus = async ({ url }: Serving) =>
  (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).status

describe('a running service', () => {
  it('reads its configuration again on SIGHUP, and logs what it has taken', LONG, async () => {
    const cwd = folder({ 'chat-server.toml': FIRST })
    const server = await serve({ cwd, env })
    expect(await metricsStatus(server)).toBe(200)
    write(cwd, SECOND)
    const reloaded = logged(server, 'Reloaded the configuration.')
    server.child.kill('SIGHUP')
    await reloaded
    expect(await metricsStatus(server)).toBe(401)

    write(cwd, BAD)
    const refused = logged(server, 'The configuration was not reloaded')
    server.child.kill('SIGHUP')
    await refused
    expect(await metricsStatus(server)).toBe(401)
    // A probe is logged at the level debug only.
    await fetch(`${server.url}/healthz`)
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.end
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(lines.find(({ message }) => message === 'Reloaded the configuration.')).toMatchObject(CHANGED)
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      reason: expect.stringMatching(
        /limits\.max_depht: unknown key, did you mean limits\.max_depth\?.*log\.level: must be one of/,
      ),
    })
    expect(lines.filter(({ level, route }) => level === 'debug' && route === '/healthz')).toHaveLength(1)
  })

  it('does so for chat-server reload, which prints the result, and fails if it is refused', LONG, async () => {
    const cwd = folder({ 'chat-server.toml': FIRST })
    expect(await run(['reload'], { cwd, env })).toMatchObject({ code: 1 })
    const server = await serve({ cwd, env })
    write(cwd, SECOND)
    const done = await run(['reload', '--json'], { cwd, env })
    expect([done.code, JSON.parse(done.stdout)]).toEqual([
      0,
      { nodes: [{ node: expect.any(String), host: hostname(), reloaded: true, ...CHANGED }] },
    ])
    expect(await metricsStatus(server)).toBe(401)
    const again = await run(['reload'], { cwd, env })
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/ reloaded +- +session\.idle_seconds\n$/)])

    // The command itself reads another file; the service its own.
    write(cwd, BAD)
    const refused = await run(['reload', '--json', '--config', 'own.json'], { cwd: fileIn(cwd), env })
    expect([refused.code, JSON.parse(refused.stdout).nodes]).toEqual([
      1,
      [
        expect.objectContaining({
          reloaded: false,
          reasons: [expect.stringContaining('max_depht'), expect.stringContaining('log.level')],
        }),
      ],
    ])
    expect(await metricsStatus(server)).toBe(401)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
    const nobody = await run(['reload', '--config', 'own.json'], { cwd, env })
    expect(nobody).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^chat-server: No service .*Send SIGHUP .*\n$/),
    })
  })
})

/** The same folder, with a configuration file of its own. */
function fileIn(cwd: string): string {
  writeFileSync(join(cwd, 'own.json'), '{}')
  return cwd
}

describe.skipIf(!inject('postgres_url') || process.platform !== 'linux')('a service of several workers', () => {
  it.each(['SIGHUP', 'chat-server reload'])('takes it in every worker: %s', LONG, async (how) => {
    const cwd = folder({ 'chat-server.toml': FIRST })
    const { url, remove } = await copyPostgresDatabase()
    onTestFinished(remove)
    const options = { cwd, env: { ...FAST, CHAT_DATABASE__URL: url } }
    const server = await serve(options, '--workers', '2')
    write(cwd, SECOND)
    if (how === 'SIGHUP') server.child.kill('SIGHUP')
    else {
      const { code, stdout } = await run(['reload', '--json'], options)
      const { nodes } = JSON.parse(stdout)
      expect([code, nodes.length, nodes.every((each: object) => 'changed' in each)]).toEqual([0, 2, true])
    }
    // Each connection may reach another worker.
    const all = () => Promise.all(Array.from({ length: 12 }, () => metricsStatus(server)))
    await expect.poll(async () => new Set(await all()), { timeout: 30_000 }).toEqual(new Set([401]))

    // Workers that start later have it, too.
    const former = workersOf(server)
    for (const worker of former) process.kill(worker, 'SIGKILL')
    await expect
      .poll(() => workersOf(server).filter((each) => !former.includes(each)), { timeout: 30_000 })
      .toHaveLength(2)
    await expect.poll(async () => new Set(await all().catch(() => [])), { timeout: 60_000 }).toEqual(new Set([401]))
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(0)
  })
})
