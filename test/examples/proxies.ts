import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from '../support/example.ts'
import { freePort } from '../support/free-port.ts'

/** A proxy with the configuration of an example. */
export interface Proxy {
  name: 'nginx' | 'caddy' | 'haproxy' | 'haproxy in compose.yaml'
  program: 'nginx' | 'caddy' | 'haproxy'
  isInstalled: boolean
  /** Its example, for these services, on this port, without what a test does not have: certificates and a host name. */
  configure(port: number, services: number[]): string
  /** The command that runs it in the foreground. */
  args(file: string, folder: string): string[]
}

const example = (file: string) => readFileSync(join(ROOT, 'examples', 'deploy', file), 'utf8')
const isInstalled = (name: string) => spawnSync(name, ['-v']).error === undefined

/** The temporary folders of the system's nginx belong to its own user. */
const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

export const PROXIES: Proxy[] = [
  {
    name: 'nginx',
    program: 'nginx',
    isInstalled: isInstalled('nginx'),
    configure(port, services) {
      const site = example('nginx.conf')
        .replace('  server 127.0.0.1:8080;', services.map((each) => `  server 127.0.0.1:${each};`).join('\n'))
        .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
        .replace(/ *ssl_certificate.*\n/g, '')
        .replace('proxy_read_timeout 60s', 'proxy_read_timeout 3s')
      const folders = NGINX_FOLDERS.map((name) => `${name}_temp_path ${name};`).join('\n')
      return `daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${folders}\n${site}}\n`
    },
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
  {
    name: 'caddy',
    program: 'caddy',
    isInstalled: isInstalled('caddy'),
    configure: (port, services) =>
      `{\n\tadmin off\n\tgrace_period 1s\n}\n${example('Caddyfile')
        .replace('chat.example.org {', `http://127.0.0.1:${port} {`)
        .replace('127.0.0.1:8080', services.map((each) => `127.0.0.1:${each}`).join(' '))}`,
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
  {
    name: 'haproxy',
    program: 'haproxy',
    isInstalled: isInstalled('haproxy'),
    configure: (port, services) =>
      example('haproxy.cfg')
        .replace(/bind .*/, `bind 127.0.0.1:${port}`)
        .replace(/ {2}server one[\s\S]*/, services.map((each, i) => `  server s${i} 127.0.0.1:${each}\n`).join(''))
        .replace('inter 1s', 'inter 100ms')
        .replace('timeout server 60s', 'timeout server 3s'),
    args: (file) => ['-f', file, '-db'],
  },
  {
    name: 'haproxy in compose.yaml',
    program: 'haproxy',
    isInstalled: isInstalled('haproxy'),
    configure: (port, services) =>
      example('compose-haproxy.cfg')
        .replace('bind :8080', `bind 127.0.0.1:${port}`)
        .replace(/ {2}server one[\s\S]*/, services.map((each, i) => `  server s${i} 127.0.0.1:${each}\n`).join(''))
        .replace('inter 1s', 'inter 100ms')
        .replace('timeout server 60s', 'timeout server 3s'),
    args: (file) => ['-f', file, '-db'],
  },
]

/** Starts a proxy. @returns its address, once it accepts connections; it ends with the test */
export async function startProxy(proxy: Proxy, services: number[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-proxy-'))
  // Started by root, nginx runs its workers as another user.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'config')
  writeFileSync(file, proxy.configure(port, services))
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(proxy.program, proxy.args(file, folder), { cwd: folder, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  onTestFinished(async () => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  })
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`${proxy.name} ended with ${child.exitCode}:\n${output}`)
  }
  return `http://127.0.0.1:${port}`
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  // Not SIGKILL: nginx's workers would survive it.
  await new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill('SIGTERM')
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => setTimeout(resolve, 20, false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
