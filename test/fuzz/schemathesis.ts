import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATTERNS, RULES } from '../../lib/core/characters.ts'
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

/** Refusals for a reason of state: a service is set up once, whatever is sent, and a cursor is one that it gave. */
const OF_STATE = ['already_set_up', 'invalid_cursor']

/** Why texts are refused that no schema of a readable size can tell from those that are taken. */
const UNSAID = [
  // No schema of the document has the rest of a URL, the order of two numbers, or which fields go together.
  'must be an http:// or https:// address',
  'must not end before it begins',
  'must have either url, or filename and media_type',
  // The names of roles are those of the configuration.
  'must be one of admin, member, read_only, guest',
  'must be one of owner, admin, moderator, member, viewer',
  // One of them alone is for guests, who come by themselves.
  'must not make a guest of a person',
  'must be at most 300 for a token with stream alone',
  // The keys of assistants, and the prices of models, are those of the configuration.
  'must be the key of an assistant of the service',
  'needs a price of the model',
  'is for a server key that acts as a system actor',
  'is missing: ensure needs it',
  // Emoji are thousands of sequences, which patterns without the flag `u` cannot list, and none counts bytes.
  'must be one emoji, or a name such as :tada:',
  'must be at most 64 bytes of UTF-8',
  // Any beginning of any path of the document.
  'must be the path of a route, or the beginning of one and *',
  // What a word is depends on its script.
  'must have a word that is to be found',
  'must have at least 3 characters before *',
  'must be at least 2 characters, outer spaces and a leading @ aside',
  // No schema of a query says that a parameter excludes another one, or that one of two is needed.
  'must be there, or else ids',
  'needs once=true',
  'must not be there with a query',
  // What is asked stands at the end of a list, with what was said before it.
  'must end with a message of the user',
  'must have `approved` in each approval with a response',
  'must have a message of the user',
  'must have a payload with `approved` in each entry that is resolved',
  'must answer each interrupt once',
  'must have files by their ids or addresses here: upload them before',
  'must have something visible that the user asks',
  'must end with what the user asks',
  'must have a role for each message',
  'must have text alone: files are attached to messages',
  'must have decisions alone, or none',
  'must name for each decision approval_request_id and approve',
  'must decide once on each call',
  'must have only the question: the conversation has what was said before',
  'must be left out beside a conversation',
  'must be left out without stream',
  'must have no NUL and no half of a surrogate pair',
  'must be the id of a conversation',
  ...['before', 'after', 'around'].map((other) => `must be left out with ${other}`),
]

/** Why edits are refused: whether the message has files is its state. */
const UNSAID_OF_EDITS = ['must not be empty without a file']

/**
 * Deleting what does not exist is no error here, so any id is taken: what schemathesis sends as a list or a number is a text in
 * a path, too.
 */
const ANY_ID = [
  '/api/admin/keys/{key_id}',
  // A chat that the caller does not know, whatever its name is.
  '/api/ui/chat/{chat_id}/stream',
  '/api/ui/chat/{chat_id}/stop',
]

/** No schema says which bytes are a picture. */
const PICTURES = ['/api/auth/me/avatar']

/** By field: a pattern of the document, and the rule that says more. */
const TEXTS: Record<string, [string, string][]> = {
  username: [[PATTERNS.username, RULES.username]],
  display_name: [[PATTERNS.label, RULES.label]],
  title: [[PATTERNS.title, RULES.title]],
  description: [[PATTERNS.visible, RULES.visible]],
  content: [[PATTERNS.visible, RULES.visible]],
  // Of a key, and of a file.
  name: [
    [PATTERNS.label, RULES.label],
    [PATTERNS.file_name, RULES.file_name],
  ],
}

/**
 * JSON Schema cannot forbid a key at any depth, and this one is what fuzzers like to name things. Nor does the schema of
 * free JSON limit its numbers, which are kept exactly or refused. And its patterns let through some invisible characters
 * that are refused.
 */
const HOOKS = `
import json
import re
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

ANY_ID = ${JSON.stringify(ANY_ID)}
OF_STATE = ${JSON.stringify(OF_STATE)}
PICTURES = ${JSON.stringify(PICTURES)}
UNSAID = ${JSON.stringify(UNSAID)}
UNSAID_OF_EDITS = ${JSON.stringify(UNSAID_OF_EDITS)}

TEXTS = ${JSON.stringify(TEXTS)}

def is_allowed(name, value):
    if not isinstance(value, str):
        return True
    return all(re.search(rule, value) or not re.search(pattern, value) for pattern, rule in TEXTS.get(name, []))

def is_exact(value):
    if isinstance(value, (int, float)):
        return abs(value) < 2 ** 53
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(is_exact(each) for each in entries)

def has_null(body):
    # Clients of OpenAI send null for what they leave out.
    return isinstance(body, dict) and any(value is None for value in body.values())

def has_unread(body):
    # Of all messages but the question, clients of AG-UI send what is not read.
    messages = body.get('messages') if isinstance(body, dict) else None
    if not isinstance(messages, list):
        return False
    users = [n for n, each in enumerate(messages) if isinstance(each, dict) and each.get('role') == 'user']
    return any(isinstance(each, dict) for n, each in enumerate(messages) if n not in users[-1:])

@schemathesis.hook
def filter_body(context, body):
    if isinstance(body, dict) and not all(is_allowed(name, value) for name, value in body.items()):
        return False
    metadata = body.get('metadata') if isinstance(body, dict) else None
    return '"__proto__"' not in json.dumps(body, default=str) and is_exact(metadata)

@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, AcceptedNegativeData) and response.status_code == 204 and case.operation.path in ANY_ID:
        return False
    if isinstance(failure, AcceptedNegativeData) and case.operation.path.startswith('/v1/') and has_null(case.body):
        return False
    if isinstance(failure, AcceptedNegativeData) and case.operation.path.startswith('/api/ag-ui') and has_unread(case.body):
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    if case.operation.path in PICTURES and response.status_code in (415, 422):
        return False
    if response.status_code not in (400, 422):
        return True
    problem = response.json()
    errors = problem.get('errors', [])
    unsaid = UNSAID + (UNSAID_OF_EDITS if case.operation.path.endswith('/edit') else [])
    # Under /v1 the reasons are in one text.
    given = problem['error']['message'] if 'error' in problem else ''
    is_unsaid = all(each['message'] in unsaid for each in errors) if errors else any(each in given for each in unsaid)
    return problem.get('code') not in OF_STATE and not is_unsaid
`

/**
 * The settings that differ from what schemathesis expects by itself: a request with too long a head or body is refused as
 * such, 431 or 413.
 */
const SETTINGS = `
hooks = "./hooks.py"

[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431, "5XX"]
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
