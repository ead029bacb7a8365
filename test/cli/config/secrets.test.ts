import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { loadConfig } from '../../../cli/config/load.ts'
import { checkConfiguration } from '../../../cli/doctor/configuration.ts'
import { ConfigError } from '../../../lib/index.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { finished, folder, run, start } from '../process.ts'

/** The configuration of a folder with these files, whose main file is chat.toml. */
function load(files: Record<string, string>, env: Record<string, string> = {}) {
  const cwd = folder(files)
  const here = (text: string) => text.replaceAll('$HERE', cwd)
  writeFileSync(join(cwd, 'chat.toml'), here(files['chat.toml'] ?? '[server]\n'))
  const all = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)]))
  return { cwd, load: () => loadConfig({ config: join(cwd, 'chat.toml') }, all) }
}

const problemsOf = (work: () => unknown): [key: string, message: string][] => {
  try {
    work()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ key, message }) => [key, message])
    throw error
  }
  return []
}

describe('a secret', () => {
  it.each([
    ['a variable ending in _FILE', { token: 'canary\n' }, { CHAT_METRICS__TOKEN_FILE: '$HERE/token' }],
    ['a key ending in _file', { token: 'canary\r\n', 'chat.toml': '[metrics]\ntoken_file = "$HERE/token"\n' }, {}],
    ['a credential of systemd', { 'metrics.token': 'canary' }, { CREDENTIALS_DIRECTORY: '$HERE' }],
  ])('is read from the file that %s names, without its line end', (_, files, env) => {
    const loaded = load(files, env as Record<string, string>).load()
    expect(loaded.config.metrics.token).toBe('canary')
    expect(loaded.warnings).toEqual([])
  })

  it('of a provider and a list are read from files, too', () => {
    const { load: read } = load(
      {
        secret: 'canary\n',
        headers: 'X-One: 1\nX-Two: 2\n',
        'chat.toml':
          '[oauth.github]\nclient_id = "a"\nredirect_uri = "https://chat.example.org/x"\nclient_secret_file = "$HERE/secret"\n',
      },
      { CHAT_ASSISTANT__HEADERS_FILE: '$HERE/headers' },
    )
    const { config } = read()
    expect(config.oauth.github).toMatchObject({ client_secret: 'canary' })
    expect(config.assistant.headers).toEqual(['X-One: 1', 'X-Two: 2'])
  })

  it('in the environment wins over a credential, and that over the configuration file', () => {
    const files = { 'metrics.token': 'credential', 'chat.toml': '[metrics]\ntoken = "file"\n' }
    const credentials = { CREDENTIALS_DIRECTORY: '$HERE' }
    expect(load(files).load().config.metrics.token).toBe('file')
    expect(load(files, credentials).load().config.metrics.token).toBe('credential')
    expect(load(files, { ...credentials, CHAT_METRICS__TOKEN: 'variable' }).load().config.metrics.token).toBe(
      'variable',
    )
  })

  it('in both forms at once is an error', () => {
    const env = { CHAT_METRICS__TOKEN: 'x', CHAT_METRICS__TOKEN_FILE: '$HERE/token' }
    expect(problemsOf(load({ token: 'canary' }, env).load)).toEqual([
      ['CHAT_METRICS__TOKEN_FILE', 'is set beside CHAT_METRICS__TOKEN: set one of the two'],
    ])
    const files = { token: 'canary', 'chat.toml': '[metrics]\ntoken = "x"\ntoken_file = "$HERE/token"\n' }
    expect(problemsOf(load(files).load)).toEqual([
      ['metrics.token_file', 'is set beside metrics.token: set one of the two'],
    ])
  })

  it.each([
    ['does not exist', {}, /\/token does not exist$/],
    ['is empty', { token: '\n' }, /\/token is empty$/],
    ['is too large', { token: 'x'.repeat(64 * 1024 + 1) }, /\/token is larger than 64 KiB$/],
    ['is not UTF-8', { token: Buffer.from([0xff, 0xfe]) as unknown as string }, /\/token is not UTF-8$/],
  ])('whose file %s is an error with the variable and the path, and without its content', (_, files, message) => {
    const problems = problemsOf(load(files, { CHAT_METRICS__TOKEN_FILE: '$HERE/token' }).load)
    expect(problems).toEqual([['CHAT_METRICS__TOKEN_FILE', expect.stringMatching(message)]])
  })

  it('whose file is a folder, and a key that is no secret, are refused', () => {
    const { cwd, load: read } = load({}, { CHAT_METRICS__TOKEN_FILE: '$HERE/token' })
    mkdirSync(join(cwd, 'token'))
    expect(problemsOf(read)).toEqual([['CHAT_METRICS__TOKEN_FILE', `${cwd}/token is not a file`]])
    expect(problemsOf(load({}, { CHAT_SERVER__PORT_FILE: '$HERE/port' }).load)[0]![0]).toBe('CHAT_SERVER__PORT_FILE')
    expect(problemsOf(load({ 'chat.toml': '[server]\nport_file = "x"\n' }).load)[0]![0]).toBe('server.port_file')
  })

  it('in a file that every user can read is a warning of doctor', () => {
    const { cwd, load: read } = load({ token: 'canary' }, { CHAT_METRICS__TOKEN_FILE: '$HERE/token' })
    const codes = () => checkConfiguration(read()).map(({ code }) => code)
    chmodSync(join(cwd, 'token'), 0o600)
    expect(codes()).not.toContain('configuration.secret_readable')
    chmodSync(join(cwd, 'token'), 0o644)
    expect(codes()).toContain('configuration.secret_readable')
  })
})

describe.skipIf(!inject('postgres_url'))('--wait', () => {
  it('waits for a PostgreSQL that is not there yet', { timeout: 150_000 }, async () => {
    const { url, remove } = await createPostgresDatabase()
    const target = new URL(url)
    const server = createServer((socket) => forward(socket, target)).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const other = new URL(url)
    other.searchParams.delete('host')
    other.host = `127.0.0.1:${port}`
    const child = start(['migrate', '--wait', '100', '--json', '--database', other.href], { cwd: folder() })
    child.stdin.end()
    const end = finished(child)
    await new Promise((resolve) => child.stderr.once('data', resolve))
    server.listen(port, '127.0.0.1')
    expect(await end).toMatchObject({ code: 0, stderr: expect.stringContaining('Waiting for the database.') })
    await new Promise((resolve) => server.close(resolve))
    await remove()
  })

  it('fails after that time, with the reason, and does not wait for SQLite', { timeout: 150_000 }, async () => {
    const cwd = folder()
    const closed = ['--database', 'postgres://chat@127.0.0.1:9/chat']
    const late = await run(['migrate', '--wait', '1', ...closed], { cwd })
    expect(late).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The database was not there within 1 seconds: '),
    })
    expect(await run(['migrate', '--wait', '9999'], { cwd })).toMatchObject({ code: 2 })
    expect(await run(['migrate', '--wait', '5'], { cwd })).toMatchObject({ code: 0, stderr: '' })
  })
})

/** Passes a connection on to PostgreSQL. */
function forward(socket: Socket, { hostname, port, searchParams }: URL): void {
  const folder = searchParams.get('host')
  const upstream = folder?.startsWith('/')
    ? connectTo(`${folder}/.s.PGSQL.${port || 5432}`)
    : connectTo(Number(port || 5432), hostname || '127.0.0.1')
  socket.on('error', () => upstream.destroy()).pipe(upstream)
  upstream.on('error', () => socket.destroy()).pipe(socket)
}
