import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pass } from './passes.ts'

const VERSION = '4.32.5'

/** Kept from run to run; `npm ci` empties every folder that it could be in here. */
const HOME = join(tmpdir(), `chat-server-schemathesis-${VERSION}`)

/** Installing and compiling takes half a minute where the registry is near. */
const INSTALL_MS = 180_000

/** @returns the program, installed if necessary; `undefined` if that fails */
export function install(): string | undefined {
  const program = join(HOME, 'bin', 'schemathesis')
  if (existsSync(join(HOME, 'installed'))) return program
  try {
    execFileSync('python3', ['-m', 'venv', '--clear', HOME], { timeout: INSTALL_MS, stdio: 'pipe' })
    const packages = ['install', '--quiet', `schemathesis==${VERSION}`]
    execFileSync(join(HOME, 'bin', 'pip'), packages, { timeout: INSTALL_MS, stdio: 'pipe' })
    writeFileSync(join(HOME, 'installed'), '')
    return program
  } catch {
    return undefined
  }
}

/** One run of schemathesis. */
interface Run extends Pass {
  url: string
  headers: Record<string, string>
  /** At most so many of each operation and phase. */
  examples: string
  seed: string
  folder: string
}

/**
 * JSON Schema cannot forbid a key at any depth, and this one is what fuzzers like to name things. Nor does the schema of
 * free JSON limit its numbers, which are kept exactly or refused.
 */
const HOOKS = `
import json
import schemathesis

def is_exact(value):
    if isinstance(value, (int, float)):
        return abs(value) < 2 ** 53
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(is_exact(each) for each in entries)

@schemathesis.hook
def filter_body(context, body):
    metadata = body.get('metadata') if isinstance(body, dict) else None
    return '"__proto__"' not in json.dumps(body, default=str) and is_exact(metadata)
`

/**
 * The settings that differ from what schemathesis expects by itself: a service that is set up refuses to be set up again,
 * whatever is sent (`already_set_up`); a request with too long a head is refused as such, 431; which instants there are, what one grapheme is, that a
 * search has a word, that a message without text has files, and which texts are addresses, is in no schema.
 */
const SETTINGS = `
hooks = "./hooks.py"

[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, 431, "5XX"]

[[operations]]
include-operation-id = "setupRun"
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 401, 403, 404, 409, "5XX"]

[[operations]]
include-operation-id = "conversationsSetSettings"
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 401, 403, 404, 422, "5XX"]

[[operations]]
include-operation-id-regex = "^reactions(Add|Remove|List)$"
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 401, 403, 404, 422, "5XX"]

[[operations]]
include-operation-id-regex = "^(messages(PostRoot|Reply|Edit)|limitsReset)$"
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 401, 403, 404, 409, 422, "5XX"]

[[operations]]
include-operation-id = "searchMessages"
checks.positive_data_acceptance.expected-statuses = ["2XX", 400, 401, 403, 404, 422, 429, "5XX"]
`

/** @returns whether nothing was found; findings are printed */
export async function schemathesis(program: string, run: Run): Promise<boolean> {
  const settings = join(run.folder, 'schemathesis.toml')
  writeFileSync(settings, SETTINGS)
  writeFileSync(join(run.folder, 'hooks.py'), HOOKS)
  const headers = Object.entries(run.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const args = [
    ...['--config-file', settings, 'run', `${run.url}/openapi.json`, '--no-color'],
    ...['--include-operation-id-regex', `^(${run.operations.join('|')})$`],
    ...['--phases', run.phases, '--max-examples', run.examples, '--seed', run.seed],
    ...['--exclude-checks', 'ignored_auth', '--warnings', 'off', '--continue-on-failure'],
    // Slow machines are slow, and what generates much throws much away.
    ...['--suppress-health-check', 'all', '--generation-database', 'none', '--request-timeout', '30'],
    // What the callers send is no part of what is made up.
    ...['--generation-with-security-parameters', 'false'],
    ...headers,
  ]
  const child = spawn(program, args, { cwd: run.folder, stdio: ['ignore', 'inherit', 'inherit'] })
  const [status] = (await once(child, 'exit')) as [number | null]
  return status === 0
}
