import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Finding } from '../../cli/doctor/finding.ts'
import { runChecks } from '../../cli/doctor/run-checks.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { freePort } from '../support/free-port.ts'
import { folder } from './process.ts'

/** The doctor's findings for this configuration, by code. */
export async function runDoctor(config: object, options = { readOnly: false }): Promise<Map<string, Finding>> {
  // It waits for one, behind a proxy.
  const quick = { sse: { heartbeat_seconds: 1 }, ...config }
  const findings = await runChecks({ config: parseConfig(quick), warnings: [] }, options)
  return new Map(findings.map((finding) => [finding.code, finding]))
}

/**
 * The codes of its warnings and errors, without those of nodes with another configuration: services of tests have settings
 * of their own, and `doctor/nodes.test.ts` has these findings.
 */
export function wrong(findings: Iterable<Finding>): string[] {
  return [...findings].flatMap(({ severity, code }) =>
    (severity === 'error' || severity === 'warning') && !code.startsWith('nodes.') ? code : [],
  )
}

/** A server that forwards everything to `target`, and each response with `pass`. @returns its address */
export async function startProxy(
  target: string,
  pass: (path: string, chunks: AsyncIterable<Buffer>, response: ServerResponse) => Promise<void>,
  change: (headers: Record<string, unknown>) => void = () => {},
  port = 0,
): Promise<string> {
  const server = createServer((incoming, response) => {
    const { url, headers, method } = incoming
    const passed = request(new URL(url!, target), { method: method!, headers }, (answer) => {
      const headers: Record<string, unknown> = { ...answer.headers }
      change(headers)
      response.writeHead(answer.statusCode!, headers as Record<string, string>)
      pass(url!, answer, response).catch(() => response.destroy())
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    incoming.pipe(passed)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Forwards a response as it arrives. */
export async function asItComes(_path: string, chunks: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
  for await (const chunk of chunks) response.write(chunk)
  response.end()
}

/** Whether nginx is installed. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** A real nginx in front of `target`, with additional settings in its `location`. @returns its address */
export async function startNginx(target: string, more: string): Promise<string> {
  const cwd = folder()
  const port = await freePort()
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${cwd}/${name};`)
  writeFileSync(
    join(cwd, 'nginx.conf'),
    `daemon off; master_process off; pid ${cwd}/pid; error_log ${cwd}/error.log;
     events {}
     http { access_log off; ${temp.join(' ')}
       server { listen 127.0.0.1:${port};
         location / { proxy_pass ${target}; proxy_http_version 1.1; proxy_set_header Connection ""; ${more} } } }`,
  )
  const child = spawn('nginx', ['-p', cwd, '-c', join(cwd, 'nginx.conf')], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (let tries = 0; tries < 600 && !(await listens(port)); tries++) await sleep(50)
  return `http://127.0.0.1:${port}`
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
