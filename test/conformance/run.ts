/**
 * Runs the conformance suite of MCP (`@modelcontextprotocol/conformance`) against the endpoint.
 *
 *   npm run test:conformance [-- --node <a Node 22 or later>]
 *
 * The suite needs Node 22: without one it is skipped, in a line that says so. Which scenarios may fail is in `expected.yml`: a
 * scenario of the list that passes is a failure, too.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startFixture } from './fixture.ts'

const PACKAGE = '@modelcontextprotocol/conformance@0.1.16'
const EXPECTED = fileURLToPath(new URL('expected.yml', import.meta.url))

const { values } = parseArgs({ options: { node: { type: 'string', default: process.execPath } } })

/** @returns why the suite cannot run here, if it cannot */
function missing(): string | undefined {
  const { stdout } = spawnSync(values.node, ['--version'], { encoding: 'utf8' })
  const major = Number(/^v(\d+)/.exec(stdout ?? '')?.[1])
  return major >= 22 ? undefined : `it needs Node 22, and ${values.node} is ${(stdout ?? '').trim() || 'none'}`
}

/** Installs the suite in a folder. @returns its program */
function install(folder: string): string | undefined {
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--prefix', folder]
  const { status } = spawnSync('npm', ['install', ...flags, PACKAGE], { stdio: ['ignore', 'ignore', 'inherit'] })
  const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  return status === 0 && existsSync(program) ? program : undefined
}

const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'))
const reason = missing()
const program = reason === undefined ? install(folder) : undefined
if (program === undefined) console.log(`- MCP conformance skipped: ${reason ?? `${PACKAGE} cannot be installed`}`)
else {
  const fixture = await startFixture()
  const args = [program, 'server', '--url', fixture.url, '--expected-failures', EXPECTED]
  const [code] = await once(spawn(values.node, args, { cwd: folder, stdio: 'inherit' }), 'close')
  process.exitCode = code ?? 1
  await fixture.close()
}
await rm(folder, { recursive: true, force: true })
