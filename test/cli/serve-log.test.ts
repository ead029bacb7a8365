import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { times } from '../support/service.ts'
import { finished, folder, start } from './process.ts'
import { logged, serve } from './serving.ts'

const env = {
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
  CHAT_DATABASE__URL: 'sqlite:chat.db',
  CHAT_LOG__REQUESTS: 'all',
  CHAT_LOG__LEVEL: 'debug',
  CHAT_RATE_LIMITS__DEFAULT_RPS: '0',
}
const person = { email: 'ada@example.org', password: 'correct horse battery' }

/** Sends bytes unchanged, and returns the response until the server closes. */
async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (text) => {
    answer += text
  })
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

it('writes a line for each event, whatever is sent', { timeout: 60_000 }, async () => {
  const serving = await serve({ cwd: folder(), env })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(serving.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  expect((await post('/api/setup', person)).status).toBe(200)
  const evils = [
    'a\r\nb: c',
    '\u2028forged\u2029',
    '\u001b[2J\u001b]0;x\u0007',
    '\u0000\u0085\u009b',
    '"}\n{"level":"error"}',
    'y'.repeat(10_240),
  ]
  for (const evil of evils) {
    await post('/api/auth/login', { email: `${evil}@example.org`, password: 'wrong password' })
    await post('/api/auth/login', { email: person.email, password: evil })
    await post('/api/invites/accept', { token: evil, username: evil, email: evil, password: evil })
    await fetch(`${serving.url}/api/threads/${encodeURIComponent(evil)}/tree?cursor_path=${encodeURIComponent(evil)}`)
    await fetch(`${serving.url}/${encodeURIComponent(evil)}`)
    for (const name of ['user-agent', 'x-request-id', 'x-forwarded-for', 'cookie', 'host']) {
      const head = Buffer.from(
        `POST /api/auth/login HTTP/1.1\r\n${name === 'host' ? '' : 'host: a\r\n'}${name}: ${evil}\r\n`,
      )
      const rest = 'content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
      expect(await sendRaw(serving.url, Buffer.concat([head, Buffer.from(rest)]))).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect(await sendRaw(serving.url, `GET /${evil} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 4\d\d /,
    )
  }
  serving.child.kill('SIGTERM')
  const { code, stderr } = await serving.end
  expect(code).toBe(0)
  const lines = stderr.replace(/\n$/, '').split('\n')
  expect(lines.length).toBeGreaterThan(50)
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8 * 1024)
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
    expect(JSON.parse(line)).toMatchObject({
      message: expect.any(String),
      level: expect.stringMatching(/^(debug|info|warn)$/),
    })
  }
  for (const line of lines.map((each) => JSON.parse(each)).filter(({ message }) => message === 'request')) {
    const allowed = ['time', 'level', 'message', 'request_id', 'method', 'route', 'status', 'ms', 'user_id']
    expect(Object.keys(line).filter((name) => !allowed.includes(name))).toEqual([])
  }
})

it('logs no error for an upload that its client aborted', { timeout: 60_000 }, async () => {
  const serving = await serve({ cwd: folder(), env })
  const { port } = new URL(serving.url)
  const heads = ['content-length: 1000', 'transfer-encoding: chunked', 'content-length: 1000\r\nexpect: 100-continue']
  for (const [index, head] of heads.entries()) {
    const told = logged(serving, `gave-up-${index}`)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    const body = head.startsWith('transfer') ? '5\r\n{"ema' : '{"ema'
    // The response to the first request shows that the second has begun as well.
    socket.write(
      `GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nPOST /api/setup HTTP/1.1\r\nhost: a\r\nx-request-id: gave-up-${index}\r\ncontent-type: application/json\r\n${head}\r\n\r\n${body}`,
    )
    await once(socket, 'data')
    if (index === 0) socket.resetAndDestroy()
    else socket.destroy()
    await told
  }
  serving.child.kill('SIGTERM')
  const { code, stderr } = await serving.end
  expect(code).toBe(0)
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ request_id }) => request_id?.startsWith('gave-up')).map(({ status }) => status)).toEqual([
    400, 400, 400,
  ])
  expect(
    lines.filter(({ level, message }) => level === 'error' || (level === 'warn' && message !== 'request')),
  ).toEqual([expect.objectContaining({ message: expect.stringContaining('bcrypt_cost') })])
})

it('continues when the reader of its log stops, and logs the number of lost lines afterwards', {
  timeout: 120_000,
}, async () => {
  const child = start(['serve', '--port', '0', '--json'], { cwd: folder(), env })
  const [greeting] = await once(child.stdout, 'data')
  const { url } = JSON.parse(String(greeting))
  const request = 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n'
  const last = request.replace('host: a', 'host: a\r\nconnection: close')
  const lost = async () => {
    const page = await (await fetch(`${url}/metrics`)).text()
    return Number(/^chat_log_lines_dropped_total (\d+)$/m.exec(page)?.[1])
  }
  // Each line has two hundred bytes: a million bytes, plus the buffer of a pipe, are less than ten thousand lines.
  let sent = 0
  while ((await lost()) === 0) {
    const answers = await Promise.all(times(4, () => sendRaw(url, request.repeat(499) + last)))
    for (const answer of answers) expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(500)
    sent += 2_000
    expect(sent).toBeLessThan(40_000)
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)

  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await expect
    .poll(() => text.includes('Lines of the log were lost') || fetch(`${url}/healthz`).then(() => false), {
      timeout: 30_000,
    })
    .toBe(true)
  const total = await lost()
  const end = finished(child)
  child.kill('SIGTERM')
  expect((await end).code).toBe(0)
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  // A slow request on a busy machine is a warning as well.
  const warnings = lines.filter(({ level, message }) => level !== 'info' && level !== 'debug' && message !== 'request')
  expect(new Set(warnings.map(({ message }) => message.split(' ')[0]))).toEqual(
    new Set(['security.password.bcrypt_cost', 'Lines']),
  )
  const notices = lines.filter(({ message }) => message === 'Lines of the log were lost')
  expect(notices.reduce((sum, { lost }) => sum + lost, 0)).toBe(total)
})

it('ends in time when the reader of its log stops', { timeout: 60_000 }, async () => {
  const child = start(['serve', '--port', '0', '--json'], { cwd: folder(), env })
  const [greeting] = await once(child.stdout, 'data')
  const { url } = JSON.parse(String(greeting))
  const request = 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n'
  await sendRaw(url, request.repeat(499) + request.replace('host: a', 'host: a\r\nconnection: close'))
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
})
