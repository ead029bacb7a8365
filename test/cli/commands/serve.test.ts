import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { printGreeting } from '../../../cli/server/greeting.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { VERSION } from '../../../lib/core/version.ts'
import { finished, folder, run, start } from '../process.ts'
import { serve as serveWith } from '../serving.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }
const serve = (cwd: string, ...args: string[]) => serveWith({ cwd, env }, ...args)
const person = { email: 'ada@example.org', password: 'correct horse battery' }

describe('serve', () => {
  it('prints the setup command, notices changes by commands, and ends its streams on SIGTERM', async () => {
    const cwd = folder()
    const server = await serve(cwd)
    expect(JSON.parse(server.greeting).setup).toEqual({
      command: 'npx chat-server setup --email you@example.org',
      url: `${server.url}/api/setup`,
      code_required: false,
    })
    expect(await (await fetch(`${server.url}/api/setup`)).json()).toEqual({ is_setup: false })

    const setup = await run(['setup', '--email', person.email], { cwd, env, input: person.password })
    expect(setup).toMatchObject({ code: 0, stdout: 'Administrator ada <ada@example.org> created.\n' })
    expect(await (await fetch(`${server.url}/api/setup`)).json()).toEqual({ is_setup: true })

    const stream = await openStream(server.url)
    let events = ''
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      if (!events.includes('stream.ready') && `${events}${chunk}`.includes('stream.ready')) server.child.kill('SIGTERM')
      events += chunk
    }
    expect(events).toMatch(/\nretry: 1000\n\nevent: stream\.closed\ndata: .*"draining"/)
    const { code, stderr } = await server.end
    expect(code).toBe(0)
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('message')
  })

  it('prints exactly one line of JSON without a terminal, and logs its start and its end', async () => {
    const cwd = folder({ 'chat.toml': '[server]\npublic_url = "https://chat.example.org"' })
    await run(['setup', '--email', person.email], { cwd, env, input: person.password })
    const [plain, json] = await Promise.all([
      serve(cwd, '--config', 'chat.toml'),
      serve(cwd, '--json', '--host', 'localhost'),
    ])
    const common = { version: VERSION, database: `sqlite:${join(cwd, 'chat.db')}` }
    const [first, second] = [
      { url: plain.url, ...common, config: join(cwd, 'chat.toml') },
      { url: json.url, ...common, config: null },
    ]
    expect([plain.greeting, json.greeting]).toEqual([first, second].map((each) => `${JSON.stringify(each)}\n`))
    expect(plain.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    for (const { child } of [plain, json]) child.kill('SIGINT')
    const ends = await Promise.all([plain.end, json.end])
    expect(ends.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, plain.greeting],
      [0, json.greeting],
    ])
    const lines = linesOf(ends[0].stderr).filter(({ level }) => level === 'info')
    expect(lines.at(0)).toMatchObject({
      ...first,
      message: 'Listening.',
      address: plain.url.slice('http://'.length),
      public_url: 'https://chat.example.org',
      pid: plain.child.pid,
      is_setup: true,
    })
    expect(lines.at(-1)).toMatchObject({ message: 'Stopped.', uptime_seconds: expect.any(Number) })
  })

  it.each([
    ['0.0.0.0', /^http:\/\/localhost:\d+$/, /^0\.0\.0\.0:\d+$/],
    ['::1', /^http:\/\/\[::1\]:\d+$/, /^\[::1\]:\d+$/],
  ])('prints an address that works, and logs the one it listens on: %s', async (host, url, address) => {
    if (host === '::1' && !hasIpv6()) return console.log('IPv6 was not tried: this machine has none')
    const server = await serve(folder(), '--host', host)
    expect(JSON.parse(server.greeting).url).toMatch(url)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    server.child.kill('SIGTERM')
    const [line] = linesOf((await server.end).stderr).filter(({ message }) => message === 'Listening.')
    expect(line).toMatchObject({ url: server.url, address: expect.stringMatching(address) })
  })

  it('hides the password of the database, and names the code of the setup', () => {
    const config = parseConfig({ database: { url: 'postgres://chat:secret@db/chat' }, setup: { code: 'secret' } })
    const started = { config, flags: {}, url: 'http://[::1]:8080', address: '[::1]:8080', is_setup: false }
    const printed: string[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
    printGreeting(started, { json: true })
    printGreeting(started, { json: false })
    write.mockRestore()
    expect(printed.join('')).not.toContain('secret@')
    expect(JSON.parse(printed[0]!)).toMatchObject({
      database: 'postgres://chat:********@db/chat',
      setup: { code_required: true },
    })
    expect(printed[1]).toMatch(/^chat-server listens on http:\/\/\[::1\]:8080\n/)
    expect(printed[1]).toContain('database       postgres://chat:********@db/chat\n')
    expect(printed[1]).toContain('"setup_code":"the setup.code of the configuration"')
  })

  it('prints a QR code of the public address under --qr, and drains as without it', async () => {
    const settings = { ...env, CHAT_SERVER__PUBLIC_URL: 'http://chat.localhost:8080' }
    const child = start(['serve', '--port', '0', '--qr'], { cwd: folder(), env: settings })
    const end = finished(child)
    let printed = ''
    while (!printed.includes('Network:')) printed += (await once(child.stdout, 'data'))[0]
    child.kill('SIGTERM')
    expect((await end).code).toBe(0)
    expect(printed).toMatch(
      /^chat-server listens on http:\/\/127\.0\.0\.1:\d+\n {2}public URL {5}http:\/\/chat\.localhost:8080\n/,
    )
    expect(printed).toMatch(/▀.*\n.*Network:.*http:\/\/chat\.localhost:8080/s)
  })

  it('ends at once on the second signal, whatever is in progress', async () => {
    const server = await serve(folder())
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    const head = 'POST /api/setup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n'
    socket.write(`${head}Content-Length: 99\r\n\r\n`)
    await once(socket, 'data')
    server.child.kill('SIGINT')
    await once(server.child.stderr, 'data')
    server.child.kill('SIGINT')
    expect((await server.end).code).toBe(130)
  })

  it('prints why it cannot start, and its warnings', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const open = ['serve', '--host', '0.0.0.0', '--port', String(port)]
    const [busy, strict, warned, notSetUp] = await Promise.all([
      run(['serve', '--port', String(port)], { cwd: folder(), env }),
      run([...open, '--strict'], { cwd: folder(), env: { ...env, CHAT_SECURITY__COOKIE__SECURE: 'true' } }),
      run(open, { cwd: folder(), env: { ...env, CHAT_SECURITY__CSRF__ENABLED: 'false', CHAT_PROT: '1' } }),
      // It refuses before it listens.
      run(['serve', '--host', '0.0.0.0', '--port', '0', '--strict'], {
        cwd: folder(),
        env: { CHAT_SECURITY__COOKIE__SECURE: 'true', CHAT_SERVER__PUBLIC_URL: 'https://chat.example.org' },
      }),
    ])
    expect(busy).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^.*\n?chat-server: Cannot listen on 127.0.0.1:${port}: the port is taken\n$`),
      ),
    })
    expect(strict).toMatchObject({ code: 2, stderr: expect.stringContaining('--strict: ') })
    const warnings = warned.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? JSON.parse(line).message : []))
    expect(warnings.map((warning: string) => warning.split(' ')[0])).toEqual([
      'CHAT_PROT',
      'server.host',
      'security.csrf.enabled',
      'security.password.bcrypt_cost',
    ])
    expect(notSetUp).toMatchObject({ code: 2, stderr: expect.stringContaining('--strict: The service is not set up') })
  })
})

async function openStream(url: string): Promise<Response> {
  const login = await post(`${url}/api/auth/login`, person)
  const cookies = login.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  const { csrf_token } = await login.json()
  const headers = { cookie: cookies.join('; '), 'x-csrf-token': csrf_token }
  const { conversation_id } = await (await post(`${url}/api/conversations`, {}, headers)).json()
  return fetch(`${url}/api/stream/conversations/${conversation_id}`, { headers })
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
}

function linesOf(stderr: string): Record<string, unknown>[] {
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((each) => each!.some(({ address }) => address === '::1'))
}
