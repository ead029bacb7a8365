import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYAML } from 'confbox'
import { describe, expect, it } from 'vitest'
import { readEnvironment, toTyped } from '../../../cli/config/environment.ts'
import { findLine, readConfigFile } from '../../../cli/config/file.ts'
import { loadConfig } from '../../../cli/config/load.ts'
import { ConfigError, type ConfigInput, parseConfig } from '../../../lib/config/parse.ts'
import { configKeys } from '../../../lib/config/reference.ts'
import { folder, run } from '../process.ts'

const ON = { enabled: true }

/** The defaults, with what the command line turns on. */
const OF_THE_COMMAND_LINE = parseConfig({ attachments: ON, bots: ON, hooks: ON })

describe('the precedence of configuration', () => {
  it('is defaults, file, environment, flags', () => {
    const file = join(
      folder({ 'a.toml': '[server]\nhost = "file"\nport = 1\n[sse]\nheartbeat_seconds = 1\n' }),
      'a.toml',
    )
    const env = { CHAT_SERVER__HOST: 'env', CHAT_SERVER__PORT: '2' }
    const { config, file: read } = loadConfig({ config: file, port: '3' }, env)
    expect(config.server).toMatchObject({ host: 'env', port: 3 })
    expect(config.sse).toEqual({ ...parseConfig().sse, heartbeat_seconds: 1 })
    expect(read).toBe(file)
  })

  it('warns of a password in the arguments, and names the variable to use instead', () => {
    const warned = (database: string) => loadConfig({ database }, {}).warnings.join()
    for (const url of ['postgres://ada:hunter2@db/chat', 'postgres://db/chat?password=hunter2']) {
      expect(warned(url)).toContain('CHAT_DATABASE__URL')
      expect(warned(url)).not.toContain('hunter2')
    }
    for (const url of ['postgres://ada@db/chat', 'postgres://db:5432/chat', 'sqlite:./a:b@c.db'])
      expect(warned(url)).toBe('')
    expect(loadConfig({}, { CHAT_DATABASE__URL: 'postgres://ada:hunter2@db/chat' }).warnings).toEqual([])
  })

  it('prefers --config to CHAT_CONFIG to ./chat-server.toml', async () => {
    const content = (port: number) => `[server]\nport = ${port}\n`
    const cwd = folder({ 'chat-server.toml': content(1), 'env.toml': content(2), 'flag.toml': content(3) })
    const portOf = async (args: string[], env = {}) => {
      const { stdout } = await run(['config', 'print', '--json', ...args], { cwd, env })
      return JSON.parse(stdout).server.port
    }
    const ports = [portOf([]), portOf([], { CHAT_CONFIG: 'env.toml' })]
    ports.push(portOf(['--config', 'flag.toml'], { CHAT_CONFIG: 'env.toml' }))
    expect(await Promise.all(ports)).toEqual([1, 2, 3])
  })

  it('prints the source of an invalid value', () => {
    const file = join(folder({ 'a.toml': '# port = 9\n\n[server]\nport = "x"\nhots = "y"\n' }), 'a.toml')
    expect(problemsOf(() => loadConfig({ config: file }, { CHAT_SSE__HEARTBEAT_SECONDS: '' }))).toEqual([
      ['server.hots', `unknown key, did you mean server.host? (${file}, line 5)`],
      ['server.port', `must be a whole number from 0 to 65535 (${file}, line 4)`],
      ['sse.heartbeat_seconds', expect.stringMatching(/^must be a whole number .* \(CHAT_SSE__HEARTBEAT_SECONDS\)$/)],
    ])
    expect(problemsOf(() => loadConfig({ port: '80a' }, {}))).toEqual([
      ['server.port', 'must be a whole number from 0 to 65535 (--port)'],
    ])
  })

  it('names the variable, and no value, when an item of a list is invalid', () => {
    expect(problemsOf(() => loadConfig({}, { CHAT_ASSISTANT__HEADERS: 'X-Team: chat, hunter2' }))).toEqual([
      ['assistant.headers', 'must be a list of "Name: value", in ASCII (CHAT_ASSISTANT__HEADERS)'],
    ])
  })

  it('reports a section that is not an object, even if a variable sets one of its keys', () => {
    const file = join(folder({ 'a.json': '{ "server": [1] }' }), 'a.json')
    expect(problemsOf(() => loadConfig({ config: file }, { CHAT_SERVER__PORT: '1' }))).toEqual([
      ['server', `must be a section with keys (${file}, line 1)`],
    ])
  })
})

describe('the environment', () => {
  it('is typed by the schema', () => {
    const { values } = readEnvironment({
      CHAT_SERVER__PORT: '80',
      CHAT_SERVER__HOST: '80',
      CHAT_STORAGE__MIGRATE: 'false',
      CHAT_SESSION__MAX_SESSIONS_PER_USER: 'false',
      CHAT_LIMITS__MAX_DEPTH: '0x10',
      CHAT_METRICS__TOKEN: '',
      CHAT_ASSISTANT__HEADERS: 'X-Team: chat, X-Key: a:b',
      CHAT_OAUTH__ALLOW_SIGNUP: 'false',
      CHAT_OAUTH__PROVIDER_A__CLIENT_ID: '12',
      CHAT_OAUTH__A__B__ISSUER: 'https://id.example.org',
      PATH: '/bin',
    })
    expect(Object.fromEntries([...values].map(([key, { value }]) => [key, value]))).toEqual({
      'server.port': 80,
      'server.host': '80',
      'storage.migrate': false,
      'session.max_sessions_per_user': false,
      'limits.max_depth': '0x10',
      'metrics.token': '',
      'assistant.headers': ['X-Team: chat', 'X-Key: a:b'],
      'oauth.allow_signup': false,
      'oauth.provider_a.client_id': '12',
      'oauth.a__b.issuer': 'https://id.example.org',
    })
  })

  it.each([
    ['', []],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['a, b,c', ['a', 'b', 'c']],
  ])('has %j for the list %j', (text, list) => {
    expect(toTyped({ type: 'list' }, text)).toEqual(list)
  })

  it('has numbers in a list of integers, and refuses others', () => {
    const { config } = loadConfig({}, { CHAT_OUTGOING__ALLOWED_PORTS: '443, 8443' })
    expect(config.outgoing.allowed_ports).toEqual([443, 8443])
    expect(() => loadConfig({}, { CHAT_OUTGOING__ALLOWED_PORTS: '443,x' })).toThrow('outgoing.allowed_ports: must be')
  })

  it.each([
    ['CHAT_SESSION__IDLE_SECNDS', 'unknown variable, did you mean CHAT_SESSION__IDLE_SECONDS?'],
    ['CHAT_SERVER__prt', 'unknown variable, did you mean CHAT_SERVER__PORT?'],
    ['CHAT_SECURITY__CSRF', 'unknown variable, did you mean CHAT_SECURITY__CSRF__ENABLED?'],
    ['CHAT_OAUTH__GITHUB__CLIENT_SECRT', 'unknown variable, did you mean CHAT_OAUTH__GITHUB__CLIENT_SECRET?'],
    ['CHAT_OAUTH__ALLOW_SIGNUP__CLIENT_ID', 'unknown variable, did you mean CHAT_OAUTH__<PROVIDER>__CLIENT_ID?'],
    ['CHAT_A__B', 'unknown variable'],
    ['CHAT___PROTO__', 'unknown variable'],
  ])('refuses %s: %s', (name, message) => {
    expect(problemsOf(() => loadConfig({}, { [name]: '1' }))).toEqual([[name, message]])
  })

  it('only warns of a CHAT_ variable that is similar to no key, and accepts the reserved ones', () => {
    expect(readEnvironment({ CHAT_CONFIG: 'a', CHAT_PASSWORD: 'b', CHATTER: 'c' }).warnings).toEqual([])
    expect(readEnvironment({ CHAT_PORT: '1' })).toMatchObject({ problems: [], warnings: [/^CHAT_PORT /].map(matching) })
  })
})

it('ignores what Kubernetes puts into every pod beside a service called chat or chat-server', () => {
  const addresses = (service: string) => ({
    [`${service}_SERVICE_HOST`]: '10.0.0.1',
    [`${service}_SERVICE_PORT`]: '80',
    [`${service}_SERVICE_PORT_HTTP`]: '80',
    [`${service}_PORT`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_8080_TCP`]: 'tcp://10.0.0.1:8080',
    [`${service}_PORT_8080_TCP_PROTO`]: 'tcp',
  })
  const found = readEnvironment({ ...addresses('CHAT'), ...addresses('CHAT_SERVER'), CHAT_OTHER_PORT: '1' })
  expect([...found.values, ...found.problems]).toEqual([])
  expect(found.warnings).toEqual([expect.stringMatching(/^CHAT_OTHER_PORT /)])
})

describe('a configuration file', () => {
  it.each([
    ['a.toml', '\ufeff[server]\r\nport = 1\r\n'],
    ['a.json', '{ "server": { "port": 1 } }'],
    ['a.yaml', 'server:\n  port: 1\n'],
    ['a.YML', '# comment\nserver: { port: 1 }'],
  ])('may be %s', (name, text) => {
    const cwd = folder({ [name]: text })
    expect(loadConfig({ config: join(cwd, name) }, {}).config.server.port).toBe(1)
  })

  it.each([
    ['a.ini', '[server]', 'must end in .toml, .json, .yaml or .yml'],
    ['a.toml', '', 'is empty'],
    ['a.yaml', ' \n', 'is empty'],
    ['a.toml', 'token = "hunter2\n', 'control characters are not allowed in strings (line 1)'],
    ['a.toml', 'a = 1\na = 2', 'trying to redefine an already defined table or value (line 2)'],
    ['a.yaml', 'a: 1\nb: [hunter2', expect.stringMatching(/ \(line 2\)$/)],
    ['a.json', '{\n  "a": 1,\n}', 'is not valid JSON (line 3)'],
    ['a.json', '{ "token": hunter2 }', expect.stringMatching(/^is not valid JSON(?! .*hunter2)/)],
    ['a.toml', new Uint8Array([0x23, 0xff]), 'is not UTF-8'],
  ])('is refused: %s with %o: %s', (name, content, message) => {
    const path = join(folder({ [name]: content }), name)
    expect(problemsOf(() => readConfigFile(path))).toEqual([[path, message]])
  })

  it('is refused when it is missing, a folder, or far too large', () => {
    const cwd = folder({ 'large.toml': '#'.repeat(2 ** 20 + 1) })
    mkdirSync(join(cwd, 'dir.toml'))
    const refusal = (name: string) => problemsOf(() => loadConfig({ config: join(cwd, name) }, {}))[0]![1]
    expect(refusal('no.toml')).toBe('does not exist')
    expect(refusal('dir.toml')).toBe('is a directory')
    expect(refusal('large.toml')).toBe('is larger than 1 MiB')
    symlinkSync('/dev/zero', join(cwd, 'endless.toml'))
    expect(refusal('endless.toml')).toBe('is not a file')
    expect(problemsOf(() => loadConfig({}, { CHAT_CONFIG: '' }))).toEqual([
      ['configuration file', matching(/^must end/)],
    ])
  })

  it.each([
    ['[a]\nx = 1\n[b]\nx = 2', 'b.x', 4],
    ['# x = 0\na.x = 1', 'a.x', 2],
    ['a:\n  xy: 1\n  x: 2', 'a.x', 3],
    ['{ "a": {\n "x": 1 } }', 'a.x', 2],
    ['[a]', 'a.x', undefined],
  ])('%j sets %s on line %s', (text, key, line) => {
    expect(findLine(text, key)).toBe(line)
  })
})

/** Runs the work as another user if the tests run as root, who can read every file. */
it('a configuration file that this user may not read is named, in one line', async () => {
  const cwd = folder({ 'a.toml': '[server]\nport = 1\n' })
  chmodSync(cwd, 0o755)
  chmodSync(join(cwd, 'a.toml'), 0o000)
  const refusal = () => problemsOf(() => readConfigFile(join(cwd, 'a.toml')))[0]![1]
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid!(65534)
  try {
    expect(refusal()).toMatch(/may not read the file .*a\.toml \(owner|no permission for .*a\.toml/)
  } finally {
    if (isRoot) process.seteuid!(0)
  }
})

it('every number has a minimum and a maximum, and no text is accepted as a number', () => {
  for (const { key: documented, type } of configKeys().filter((each) => each.type.startsWith('integer'))) {
    const key = documented.replace('<assistant>', 'helper').replace('<tool>', 'refund')
    // Files may be larger than any other number.
    const large = /^attachments\.\w+_bytes$/.test(key) ? [] : [1e12, 2 ** 31]
    for (const value of [...large, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '8h', '1', null, true]) {
      const name = key.split('.')
      const input = name.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value)
      const problems = problemsOf(() => parseConfig(input as ConfigInput))
      expect([key, String(value), problems[0]![0], type], `${key} = ${value}`).toEqual([key, String(value), key, type])
    }
  }
})

it.each([
  ['postgres://chat:hunter2@[bad/chat'],
  ['postgres://chat:hunter2@127.0.0.1:99999/chat'],
  ['postgres://chat:hun/ter2@127.0.0.1/chat'],
  ['mysql://chat:hunter2@127.0.0.1/chat'],
])('an invalid database URL is refused, and not repeated: %s', (url) => {
  const [[key, message]] = problemsOf(() => loadConfig({}, { CHAT_DATABASE__URL: url })) as [[string, string]]
  expect([key, message]).toEqual(['database.url', expect.stringMatching(/^must be .* \(CHAT_DATABASE__URL\)$/)])
  expect(message).not.toContain('hun')
})

it.each([
  ['postgres://chat@/chat?host=/run/postgresql'],
  ['postgres:///chat'],
  ['postgres://chat:p%40ss@127.0.0.1:5432/chat?sslmode=require'],
  ['postgresql://[::1]/chat'],
])('a database URL may be %s', (url) => {
  expect(loadConfig({ database: url }, {}).config.database.url).toBe(url)
})

describe('chat-server config', () => {
  it('writes a file with the defaults, for this user only, and never over an existing one', async () => {
    const cwd = folder()
    const file = join(cwd, 'chat-server.toml')
    expect(await run(['config', 'init'], { cwd })).toMatchObject({ code: 0, stdout: 'Written to chat-server.toml.\n' })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(loadConfig({ config: file }, {}).config).toEqual(OF_THE_COMMAND_LINE)

    // Without the # before each key it still has the defaults; keys without a default must be filled in.
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/^# (\w+ = )/gm, '$1').replace(/^\w+ = ""\n/gm, ''))
    expect(loadConfig({ config: file }, {}).config).toEqual(OF_THE_COMMAND_LINE)

    writeFileSync(file, 'mine')
    const again = await run(['config', 'init', '--json'], { cwd })
    expect(again).toMatchObject({ code: 1, stderr: matching(/chat-server.toml already exists; --force/) })
    expect(JSON.parse(again.stdout)).toEqual({ error: { code: 'failed', message: matching(/already exists/) } })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect((await run(['config', 'init', '--force'], { cwd })).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('writes the same file in YAML', async () => {
    const cwd = folder()
    const file = join(cwd, 'chat.yaml')
    const written = await run(['config', 'init', '--output', 'chat.yaml'], { cwd })
    expect(written).toMatchObject({ code: 0, stdout: 'Written to chat.yaml.\n' })
    expect(loadConfig({ config: file }, {}).config).toEqual(OF_THE_COMMAND_LINE)

    // Without the # of each line it still has the defaults; keys without a default are empty.
    const open = parseYAML<object>(readFileSync(file, 'utf8').replace(/^# ( *\w+:)/gm, '$1'))
    const keys = configKeys().filter(({ key }) => !key.includes('<'))
    for (const { key, default: fallback } of keys) {
      const value = key.split('.').reduce<unknown>((section, name) => Object(section)[name], open)
      expect(value, key).toEqual(fallback ?? '')
    }
  })

  it('prints the effective configuration with masked secrets', async () => {
    const cwd = folder()
    const env = {
      CHAT_METRICS__TOKEN: 'hunter2',
      CHAT_OAUTH__GITHUB__CLIENT_ID: 'id',
      CHAT_OAUTH__GITHUB__CLIENT_SECRET: 'hunter2',
      CHAT_SERVER__PUBLIC_URL: 'https://chat.example.org',
      CHAT_ASSISTANT__API_KEY: 'hunter2',
      CHAT_ASSISTANT__HEADERS: 'X-Key: hunter2, X-Other: b:hunter2',
      CHAT_ASSISTANT__SYSTEM_PROMPT: 'Be brief.\n"Always."',
      CHAT_FOO: '1',
    }
    const args = ['config', 'print', '--database', 'postgres://chat:hunter2@db/chat']
    const [toml, json] = await Promise.all([run(args, { cwd, env }), run([...args, '--json'], { cwd, env })])
    expect(toml.stdout + toml.stderr + json.stdout + json.stderr).not.toContain('hunter2')
    writeFileSync(join(cwd, 'printed.toml'), toml.stdout)
    const { config } = loadConfig({ config: join(cwd, 'printed.toml') }, {})
    expect(config).toEqual(JSON.parse(json.stdout))
    expect(config.metrics.token).toBe('********')
    expect(config.assistant).toMatchObject({
      api_key: '********',
      headers: ['X-Key: ********', 'X-Other: ********'],
      system_prompt: 'Be brief.\n"Always."',
    })
    expect(json.stderr).toMatch(/^CHAT_FOO in the environment sets nothing.*$/m)
  })

  it('check exits with 0 for a valid configuration, 2 for an invalid one, and 2 for a warning under --strict', async () => {
    const cwd = folder({ 'open.toml': '[server]\nhost = "0.0.0.0"\n[security.csrf]\nenabled = false\n' })
    const [fine, wrong, risky, strict] = await Promise.all([
      run(['config', 'check'], { cwd }),
      run(['config', 'check', '--json'], { cwd, env: { CHAT_SERVER__PORT: '8o80', CHAT_SESION__X: '1' } }),
      run(['config', 'check', '--json', '--config', 'open.toml'], { cwd }),
      run(['config', 'check', '--strict', '--config', 'open.toml'], { cwd }),
    ])
    expect(fine).toEqual({ code: 0, stdout: 'The configuration is valid.\n', stderr: '' })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(
      /^chat-server: the configuration cannot be used\n {2}CHAT_SESION__X: .*\n {2}server\.port: /,
    )
    expect(JSON.parse(wrong.stdout).error.errors.map((error: { path: string }) => error.path)).toEqual([
      'CHAT_SESION__X',
      'server.port',
    ])
    expect(risky.code).toBe(0)
    expect(JSON.parse(risky.stdout)).toMatchObject({ valid: true, file: 'open.toml' })
    expect(JSON.parse(risky.stdout).warnings).toEqual([/^server.host = 0.0.0.0 /, /^security.csrf/].map(matching))
    expect(strict).toMatchObject({ code: 2, stdout: '', stderr: matching(/--strict: server.host = 0.0.0.0 /) })
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  })
})

function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern)
}

function problemsOf(work: () => unknown): [key: string, message: string][] {
  try {
    work()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ key, message }) => [key, message])
    throw error
  }
  throw new Error('It was accepted.')
}
