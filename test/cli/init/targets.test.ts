import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseYAML } from 'confbox/yaml'
import { describe, expect, it } from 'vitest'
import type { Facts } from '../../../cli/init/facts.ts'
import { TARGETS } from '../../../cli/init/targets.ts'
import { fillIn } from '../../../cli/init/write.ts'
import { parseConfig } from '../../../lib/config/parse.ts'
import { ROOT } from '../../support/example.ts'
import { commandOf, folder, run } from '../process.ts'

/** A configuration of which each value differs from the examples. */
const OTHER = {
  server: {
    host: '::1',
    port: 9321,
    public_url: 'https://talk.example.net:8443/talk/',
    keep_alive_timeout_seconds: 11,
    drain_delay_seconds: 17,
    max_connections: 4321,
  },
  sse: { heartbeat_seconds: 7 },
  database: { url: 'sqlite:/srv/talk/chat.db' },
  metrics: { token: 'canary' },
}

const CONFIGS: [string, object][] = [
  ['the defaults', {}],
  ['another address', OTHER],
  ['plain HTTP', { server: { public_url: 'http://chat.localhost:8088' } }],
  ['PostgreSQL', { database: { url: 'postgres://chat@db/chat' } }],
]

type Name = keyof typeof TARGETS

const PROGRAM = [process.execPath, '/usr/local/bin/chat-server']

/** What the files take from a configuration that the program above was called with. */
const factsOf = (input: object, more: Partial<Facts> = {}): Facts => ({
  config: parseConfig(input),
  output: '.',
  root: ROOT,
  program: PROGRAM,
  ...more,
})

/** Writes the files of a target into a new folder. */
function written(
  name: Name,
  input: object,
  more: Partial<Facts> = {},
): { cwd: string; text: (name: string) => string } {
  const cwd = folder()
  for (const { path, text } of fillIn(TARGETS[name], factsOf(input, { output: cwd, ...more })))
    writeFileSync(path, text)
  return { cwd, text: (name) => readFileSync(join(cwd, name), 'utf8') }
}

/** Runs the program that reads the file. */
function check(program: string, args: string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
}

/** Lets systemd judge the unit of a folder: it also complains about what it ignores. */
function verifyUnit(cwd: string, user = false): void {
  const args = [...(user ? ['--user'] : []), 'verify', './chat-server.service']
  // Set in a session of a user, without which the manager of a user cannot start.
  const env = { ...process.env, XDG_RUNTIME_DIR: cwd }
  const { status, stderr } = spawnSync('systemd-analyze', args, { cwd, env, encoding: 'utf8' })
  const complaints = stderr.split('\n').filter((line) => line.includes('chat-server.service'))
  expect({ status, complaints }).toEqual({ status: 0, complaints: [] })
}

const missing = (program: string, args = ['--version']) => {
  const isMissing = spawnSync(program, args).error !== undefined
  if (isMissing) console.log(`Checks by ${program} skipped: not found`)
  return isMissing
}

/** A certificate with its key in one file, as HAProxy reads it; nginx takes it for both. */
function certificate(cwd: string): string {
  const [key, cert] = [join(cwd, 'key.pem'), join(cwd, 'cert.pem')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const both = join(cwd, 'both.pem')
  writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  return both
}

describe.each(CONFIGS)('with %s, the program of each file accepts it', (_, input) => {
  it.skipIf(missing('systemd-analyze'))('systemd', () => {
    for (const user of [false, true]) {
      const { cwd } = written('systemd', input, { user })
      verifyUnit(cwd, user)
    }
  })

  it.skipIf(missing('nginx', ['-v']) || missing('openssl', ['version']))('nginx', () => {
    const { cwd, text } = written('nginx', input)
    const block = text('chat-server.conf').replaceAll(/\/etc\/ssl\/\S+\.(pem|key)/g, certificate(cwd))
    const head = `pid ${cwd}/pid; error_log stderr; events {}`
    writeFileSync(join(cwd, 'nginx.conf'), `${head}\nhttp { access_log off;\n${block}\n}`)
    check('nginx', ['-t', '-p', cwd, '-c', join(cwd, 'nginx.conf')], cwd)
  })

  it.skipIf(missing('caddy', ['version']))('caddy', () => {
    const { cwd } = written('caddy', input)
    check('caddy', ['validate', '--config', 'Caddyfile', '--adapter', 'caddyfile'], cwd)
  })

  it.skipIf(missing('haproxy', ['-v']) || missing('openssl', ['version']))('haproxy', () => {
    const { cwd, text } = written('haproxy', input)
    writeFileSync(
      join(cwd, 'haproxy.cfg'),
      text('haproxy.cfg').replaceAll(/\/etc\/haproxy\/\S+\.pem/g, certificate(cwd)),
    )
    check('haproxy', ['-c', '-f', 'haproxy.cfg'], cwd)
  })

  it.skipIf(missing('promtool'))('prometheus', () => {
    const { cwd } = written('prometheus', input)
    writeFileSync(join(cwd, 'chat-server.token'), 'secret')
    check('promtool', ['check', 'config', 'prometheus.yaml'], cwd)
  })

  it.skipIf(missing('kubectl', ['version', '--client']))('kubernetes', () => {
    const { cwd } = written('kubernetes', input)
    writeFileSync(join(cwd, 'kustomization.yaml'), 'resources: [kubernetes.yaml]\n')
    check('kubectl', ['kustomize', '.'], cwd)
  })

  it('docker: the compose file names its Dockerfile and the sources', () => {
    const { cwd, text } = written('docker', input)
    const { services } = parseYAML<{ services: Record<string, { build: { context: string; dockerfile: string } }> }>(
      text('compose.yaml'),
    )
    expect(services.one!.build.dockerfile).toBe(join(cwd, 'Dockerfile'))
    expect(join(cwd, services.one!.build.context, '/')).toBe(ROOT)
  })
})

it('takes address, timeouts, limits and database from the configuration, and no secret', () => {
  const texts = new Map(
    Object.keys(TARGETS).map((name) => {
      const { cwd, text } = written(name as Name, OTHER)
      return [name, readdirSync(cwd).map(text).join('\n')]
    }),
  )
  const { systemd, nginx, caddy, haproxy, kubernetes, prometheus, docker } = Object.fromEntries(texts)
  expect(systemd).toMatch(/^ReadWritePaths=\/srv\/talk$/m)
  expect(systemd).toMatch(/^LimitNOFILE=8642$/m)
  expect(systemd).toMatch(/^TimeoutStopSec=47$/m)
  for (const proxy of [nginx, caddy, haproxy]) expect(proxy).toContain('[::1]:9321')
  expect(nginx).toMatch(
    /listen 8443 ssl.*server_name talk\.example\.net;.*location \/talk\/ {\s+proxy_pass http:\/\/chat\/;/s,
  )
  expect(nginx).toMatch(/keepalive_timeout 10s;.*proxy_read_timeout 21s;/s)
  expect(caddy).toMatch(/^talk\.example\.net:8443 {\n\turi strip_prefix \/talk\n/m)
  expect(haproxy).toContain('  balance leastconn\n  http-request replace-path /talk/?(.*) /\\1')
  // SQLite is served by one process.
  expect(haproxy).not.toMatch(/server two|both/i)
  expect(kubernetes).toContain('public_url = "https://talk.example.net:8443/talk"')
  expect(kubernetes).toMatch(/terminationGracePeriodSeconds: 47/)
  expect(docker).toContain('127.0.0.1:9321:8080')
  expect(prometheus).toMatch(/targets: \["\[::1\]:9321"\].*/)
  expect(prometheus).toContain('credentials_file: chat-server.token')
  for (const text of texts.values()) expect(text).not.toMatch(/canary|chat\.example\.org(?!\.token)/)
})

it('systemd lets the service write the files of messages, into a folder that the steps create', () => {
  const unit = (input: object) => written('systemd', input).text('chat-server.service')
  const elsewhere = { ...OTHER, attachments: { storage: 'fs:/srv/chat-files' } }
  expect(unit(elsewhere)).toMatch(/^ReadWritePaths=\/srv\/talk \/srv\/chat-files$/m)
  const steps = TARGETS.systemd.next(factsOf(elsewhere)).join('\n')
  expect(steps).toContain('install -d -m 700 -o chat-server -g chat-server /srv/chat-files')

  expect(unit({ ...OTHER, attachments: { storage: 'fs:/srv/talk/media/' } })).toMatch(/^ReadWritePaths=\/srv\/talk$/m)
  for (const attachments of [
    { storage: 'fs:/var/lib/chat-server/media' },
    { storage: 'fs:./media' },
    { storage: 's3://bucket/chat' },
    { storage: 'fs:/srv/chat-files', enabled: false },
  ])
    expect(unit({ attachments })).not.toContain('ReadWritePaths')
})

it('supervisors wait for answers as long as the service does', () => {
  const input = { server: { drain_delay_seconds: 12 }, assistant: { drain_seconds: 120 } }
  expect(written('systemd', input).text('chat-server.service')).toMatch(/^TimeoutStopSec=152$/m)
  expect(written('kubernetes', input).text('kubernetes.yaml')).toMatch(/terminationGracePeriodSeconds: 152$/m)
})

it('systemd lets the service write the backups, into a folder that the steps create', () => {
  const at = (input: object) => ({
    unit: written('systemd', input).text('chat-server.service'),
    steps: TARGETS.systemd.next(factsOf(input)).join('\n'),
  })
  const both = at({ ...OTHER, backup: { target: '/var/backups/chat/' } })
  expect(both.unit).toMatch(/^ReadWritePaths=\/srv\/talk \/var\/backups\/chat\/?$/m)
  expect(both.steps).toContain('install -d -m 700 -o chat-server -g chat-server /var/backups/chat')
  for (const target of ['s3://bucket/chat', './backups', '/var/lib/chat-server/backups'])
    expect(at({ backup: { target } }).unit).not.toContain('ReadWritePaths')
  expect(at({ backup: { target: '/var/lib/chat-server-backups' } }).unit).toContain('ReadWritePaths')
})

it('without a token Prometheus sends none, and every text to fill in is in its example', () => {
  expect(written('prometheus', {}).text('prometheus.yaml')).not.toMatch(/token|authorization/)
  const bare = written('nginx', { server: { public_url: 'http://chat.localhost' } }).text('chat-server.conf')
  expect(bare).toContain('  listen 80;\n  server_name chat.localhost;\n\n  location / {')
})

it('writes into a folder, names what it wrote and what to run, and replaces nothing without --force', {
  timeout: 60_000,
}, async () => {
  const cwd = folder({ 'chat-server.toml': '[server]\nport = 9321\n' })
  const first = await run(['init', 'prometheus', '--output', 'deploy', '--json'], { cwd })
  const names = ['prometheus.yaml', 'alerts.yaml', 'grafana-dashboard.json']
  expect([first.code, JSON.parse(first.stdout)]).toEqual([
    0,
    {
      files: names.map((name) => join(cwd, 'deploy', name)),
      next: expect.arrayContaining(['promtool check config prometheus.yaml']),
    },
  ])
  expect(readFileSync(join(cwd, 'deploy', 'prometheus.yaml'), 'utf8')).toContain('127.0.0.1:9321')

  writeFileSync(join(cwd, 'deploy', 'alerts.yaml'), 'mine')
  const again = await run(['init', 'prometheus', '--output', 'deploy'], { cwd })
  const paths = names.map((name) => join(cwd, 'deploy', name)).join(', ')
  expect(again).toMatchObject({ code: 1, stderr: `chat-server: ${paths} already exist; --force replaces them\n` })
  expect(readFileSync(join(cwd, 'deploy', 'alerts.yaml'), 'utf8')).toBe('mine')
  expect((await run(['init', 'prometheus', '--output', 'deploy', '--force'], { cwd })).code).toBe(0)
  expect(readFileSync(join(cwd, 'deploy', 'alerts.yaml'), 'utf8')).not.toBe('mine')

  const [printed, several] = [
    await run(['init', 'caddy', '--stdout'], { cwd }),
    await run(['init', 'docker', '--stdout'], { cwd }),
  ]
  expect(printed.stdout).toContain('reverse_proxy 127.0.0.1:9321')
  expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining('docker has several files: use --output') })
  expect(readdirSync(cwd).sort()).toEqual(['chat-server.toml', 'deploy'])
})

it('writes the socket of the service for proxies', () => {
  const input = { server: { public_url: 'https://chat.example.org', socket: '/run/chat-server/chat.sock' } }
  const texts = { nginx: 'chat-server.conf', caddy: 'Caddyfile', haproxy: 'haproxy.cfg' } as const
  const [nginx, caddy, haproxy] = (['nginx', 'caddy', 'haproxy'] as const).map((name) =>
    written(name, input).text(texts[name]),
  )
  expect(nginx).toContain('server unix:/run/chat-server/chat.sock;')
  expect(caddy).toContain('reverse_proxy unix//run/chat-server/chat.sock {')
  expect(haproxy).toContain('server one unix@/run/chat-server/chat.sock')
})

describe('systemd runs', () => {
  const unit = (more: Partial<Facts>) => written('systemd', {}, more)

  it('Node and the path by which the command was called', async () => {
    const cwd = folder()
    const called = join(cwd, 'chat-server')
    symlinkSync(resolve(commandOf([]).at(-1)!), called)
    const { stdout, stderr } = spawnSync(process.execPath, [called, 'init', 'systemd', '--stdout'], {
      cwd,
      encoding: 'utf8',
    })
    expect(stdout, stderr).toContain(
      `\nExecStart=${process.execPath} ${called} serve --wait 60 --config /etc/chat-server/chat-server.toml\n`,
    )
  })

  it.skipIf(missing('systemd-analyze'))('a program and folders whose names have signs of systemd', () => {
    const bin = join(folder(), '50% of $HOME, or more')
    mkdirSync(bin)
    const node = join(bin, 'node')
    copyFileSync(process.execPath, node)
    chmodSync(node, 0o755)
    const { cwd, text } = written(
      'systemd',
      { database: { url: `sqlite:${bin}/data/chat.db` } },
      { program: [node, join(bin, 'main.js')] },
    )
    verifyUnit(cwd)
    const quoted = bin.replace('%', '%%')
    const script = quoted.replace('$', '$$$$')
    expect(text('chat-server.service')).toContain(`ExecStart="${quoted}/node" "${script}/main.js" serve`)
    expect(text('chat-server.service')).toContain(`ReadWritePaths="${quoted}/data"`)
    const steps = TARGETS.systemd.next(factsOf({ database: { url: `sqlite:${bin}/data/chat.db` } }))
    const step = steps.find((each) => each.startsWith('test -d'))!
    execFileSync('sh', ['-c', step.replace('-o chat-server -g chat-server ', '')])
    expect(readdirSync(bin).sort()).toEqual(['data', 'node'])
  })

  it('nothing of a home folder without a word, as the unit cannot read it', () => {
    const facts = factsOf({}, { program: ['/home/ada/.nvm/node', '/home/ada/bin/chat-server'] })
    expect(TARGETS.systemd.notes!(facts)).toEqual([expect.stringContaining('/home/ada/bin/chat-server')])
    expect(TARGETS.systemd.notes!({ ...facts, user: true })).toEqual([])
    expect(TARGETS.systemd.notes!(factsOf({}))).toEqual([])
  })

  it('with --user a service of that user, with its own folders', () => {
    const text = unit({ user: true }).text('chat-server.service')
    expect(text).toMatch(/^WantedBy=default\.target$/m)
    expect(text).toMatch(/--config %h\/\.config\/chat-server\/chat-server\.toml$/m)
    expect(text).not.toMatch(/^(User|Group|ProtectHome|CapabilityBoundingSet|StateDirectory)=|\/etc\/|network-online/m)
    const steps = TARGETS.systemd.next(factsOf({}, { user: true, file: '/home/ada/my chat.yaml' }))
    expect(steps.join('\n')).toContain("install -m 600 '/home/ada/my chat.yaml' ~/.config/chat-server/chat-server.yaml")
    expect(steps.at(-1)).toMatch(/^loginctl enable-linger/)
    expect(steps.join('\n')).not.toMatch(/useradd|\/etc\/|systemctl (?!--user)/)
  })

  it.skipIf(missing('systemd-analyze'))('a service on a port below 1024, or on a socket', () => {
    const low = written('systemd', { server: { port: 443 } })
    expect(low.text('chat-server.service')).toMatch(/^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m)
    const at = (socket: string) =>
      written('systemd', { server: { public_url: 'https://chat.example.org', socket, port: 443 } })
    const [own, other] = [at('/run/talk/chat.sock'), at('/srv/sockets/chat.sock')]
    expect(own.text('chat-server.service')).toMatch(/^RuntimeDirectory=talk$/m)
    expect(other.text('chat-server.service')).toMatch(/^ReadWritePaths=\/srv\/sockets$/m)
    for (const each of [own, other]) expect(each.text('chat-server.service')).not.toContain('Ambient')
    for (const { cwd } of [low, own, other]) verifyUnit(cwd)
  })
})

describe('HAProxy has', () => {
  const servers = (input: object, more: Partial<Facts> = {}) => {
    const { cwd, text } = written('haproxy', input, more)
    const name = join(cwd, 'haproxy.cfg')
    writeFileSync(name, text('haproxy.cfg').replace(/ ssl crt \S+ alpn \S+/, ''))
    if (!missing('haproxy', ['-v'])) check('haproxy', ['-c', '-f', name], cwd)
    return {
      lines: text('haproxy.cfg').match(/^ {2}server .*$/gm),
      head: text('haproxy.cfg').split('\n', 3).join('\n'),
    }
  }
  const postgres = { database: { url: 'postgres://chat@db/chat' } }

  it('the configured port, and on PostgreSQL a second node on the next one', () => {
    expect(servers({ ...postgres, server: { port: 9321 } }).lines).toEqual([
      '  server one 127.0.0.1:9321',
      '  server two 127.0.0.1:9322',
    ])
    expect(servers({ ...postgres, server: { host: '10.0.0.5', port: 65535 } }).lines).toEqual([
      '  server one 10.0.0.5:65535',
      '  server two 10.0.0.5:65534',
    ])
    const socket = { public_url: 'https://chat.example.org', socket: '/run/chat-server/chat.sock' }
    for (const alone of [{ ...postgres, cluster: { workers: 4 } }, { ...postgres, server: socket }, {}]) {
      const { lines, head } = servers(alone)
      expect(lines).toHaveLength(1)
      expect(head).not.toMatch(/Two|both/i)
    }
  })

  it('the nodes that --nodes names', async () => {
    const nodes = ['10.0.0.1:8080', '[fd00::2]:8080', 'localhost:9000']
    const { lines, head } = servers(postgres, { nodes })
    expect(lines).toEqual(['one', 'two', 'node3'].map((name, i) => `  server ${name} ${nodes[i]}`))
    expect(head).toMatch(/^# 3 chat-servers.*\n.* in all: .*\n# All need/)
    const cwd = folder()
    const written = await run(['init', 'haproxy', '--stdout', '--nodes', '10.0.0.1:8080, two:8080'], { cwd })
    expect(written.stdout).toMatch(/ {2}server one 10\.0\.0\.1:8080\n {2}server two two:8080$/m)
    const refused = await run(['init', 'haproxy', '--stdout', '--nodes', 'one:8080,two check'], { cwd })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"two check" is not host:port') })
  })
})
