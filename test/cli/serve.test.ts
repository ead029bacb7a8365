import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finished, folder, run, start } from './process.ts'
import { serve as serveWith } from './serving.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }
const serve = (cwd: string, ...args: string[]) => serveWith({ cwd, env }, ...args)
const person = { email: 'ada@example.org', password: 'correct horse battery' }

describe('serve', () => {
  it('prints the setup command, notices changes by commands, and ends its streams on SIGTERM', async () => {
    const cwd = folder()
    const server = await serve(cwd)
    expect(server.greeting).toContain('chat-server setup --email')
    expect(server.greeting).toContain(`curl -X POST ${server.url}/api/setup`)
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

  it('prints one document under --json, and nothing about setup once that is done', async () => {
    const cwd = folder()
    await run(['setup', '--email', person.email], { cwd, env, input: person.password })
    const [plain, json] = await Promise.all([serve(cwd), serve(cwd, '--json', '--host', 'localhost')])
    expect(plain.greeting).toBe(`chat-server listens on ${plain.url}\n`)
    expect(JSON.parse(json.greeting)).toEqual({
      url: json.url,
      host: 'localhost',
      port: Number(new URL(json.url).port),
      is_setup: true,
    })
    plain.child.kill('SIGINT')
    json.child.kill('SIGINT')
    expect([(await plain.end).code, (await json.end).code]).toEqual([0, 0])
  })

  it('prints a QR code of the public address under --qr, and drains as without it', async () => {
    const settings = { ...env, CHAT_SERVER__PUBLIC_URL: 'http://chat.localhost:8080' }
    const child = start(['serve', '--port', '0', '--qr'], { cwd: folder(), env: settings })
    const end = finished(child)
    let printed = ''
    while (!printed.includes('Network:')) printed += (await once(child.stdout, 'data'))[0]
    child.kill('SIGTERM')
    expect((await end).code).toBe(0)
    expect(printed).toMatch(/^chat-server listens on http:\/\/chat\.localhost:8080\n/)
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
