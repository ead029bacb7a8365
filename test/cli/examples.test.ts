import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../cli/commands.ts'
import { describeCommands } from '../../cli/completion/describe.ts'
import { newId } from '../../lib/core/ids.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { commandOf, type Finished, folder } from './process.ts'
import { serve } from './serving.ts'

/** The ids in the examples. */
const CONVERSATION = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'
const HOOK = '01980a3c-7000-7a10-8b20-0c4f1d2e3a49'
const WEBHOOK = '01980a3c-7000-7a10-8b20-0c4f1d2e3a51'
const INVITE = '01980a3c-7000-7a10-8b20-0c4f1d2e3a44'
const NEWCOMER = '01980a3c-7000-7a10-8b20-0c4f1d2e3a45'
const KEY = '01980a3c-7000-7a10-8b20-0c4f1d2e3a46'
const ASSIGNMENT = '0199f0a0-0000-7000-8000-000000000000'
const SERVER_KEY = '01980a3c-7000-7a10-8b20-0c4f1d2e3a47'

/** The commands in an order in which each can run; those of a row at once. */
const ORDER: string[][] = [
  ['systemd', 'docker', 'nginx', 'caddy', 'haproxy', 'kubernetes', 'prometheus'].map((name) => `init ${name}`),
  ['config init', 'openapi', 'completion bash', 'completion zsh', 'completion fish'],
  ['config check', 'config print', 'setup'],
  ['user create', 'user import', 'limits profiles create', 'migrate'],
  [
    'user list',
    'session list',
    'audit list',
    'nodes list',
    'mail queue list',
    'limits profiles list',
    'limits status',
    'limits reset',
    'user reset-link',
    'user set-password',
  ],
  [
    'invite create',
    'invite list',
    'invite revoke',
    'limits profiles update',
    'user set-roles',
    'session revoke',
    'key list',
    'server-key list',
    'grant list',
    'client create',
    'client list',
  ],
  ['key revoke', 'server-key create', 'bot create'],
  ['bot commands', 'bot list', 'bot set', 'bot create-key', 'bot list-keys', 'bot give'],
  ['bot erase', 'usage quota', 'usage report', 'assistant list', 'assistant try'],
  ['server-key revoke', 'client delete', 'grant revoke'],
  ['mail queue retry', 'user invite'],
  [
    'user invites',
    'user revoke-invite',
    'user show',
    'user export',
    'user unlock',
    'access explain',
    'conversation list',
    'conversation show',
  ],
  ['mail queue drop'],
  ['limits profiles delete', 'backup', 'backup run', 'export', 'events prune', 'events renew-epoch'],
  ['limits profiles create', 'backup list', 'backup verify', 'restore', 'import', 'fsck', 'doctor', 'user disable'],
  ['limits assignments create', 'user enable', 'user set-email'],
  ['conversation set'],
  ['hook create', 'hook list'],
  ['hook delete'],
  [
    'webhook create',
    'webhook list',
    'webhook set',
    'webhook verify',
    'webhook test',
    'webhook rotate',
    'webhook deliveries',
  ],
  ['webhook replay'],
  ['webhook delete'],
  ['user lockdown', 'conversation export'],
  ['conversation import'],
  ['conversation delete'],
  ['user merge'],
  ['limits assignments list', 'limits assignments delete', 'user set-username'],
  ['user erase'],
  ['search status', 'search rebuild', 'secret status', 'secret rotate', 'attachments gc', 'attachments stat'],
  // Alone: while it writes the marker of the files, nothing may be deleted there.
  ['attachments adopt'],
  ['clock status', 'clock trust'],
  ['vacuum'],
]

it('every example in the help runs, and with --json prints one document', { timeout: 300_000 }, async () => {
  const examples = new Map(
    (await describeCommands(root)).flatMap(({ path, example }) =>
      example ? [[path.replace('chat-server ', ''), example]] : [],
    ),
  )
  // `mail test` and `health` need a server: their own tests start one.
  expect([...new Set(['serve', 'reload', 'mail test', 'health', ...ORDER.flat()])].sort()).toEqual(
    [...examples.keys()].sort(),
  )

  const cwd = folder({
    'password.txt': 'correct horse battery\n',
    'users.csv': 'email\nhopper@example.org\n',
    'commands.json': '{"commands":[{"name":"deploy","description":"Deploys a version"}]}',
    'chat-server': wrapper(),
  })
  chmodSync(join(cwd, 'chat-server'), 0o755)
  for (const each of ['.local/share/bash-completion/completions', '.zfunc', '.config/fish/completions'])
    mkdirSync(join(cwd, each), { recursive: true })
  for (const [index, row] of ORDER.entries()) {
    if (row.includes('invite revoke')) await withIds(cwd)
    const ended = await Promise.all(row.map((command) => runExample(cwd, command, examples.get(command)!)))
    for (const [place, { code, stdout, stderr }] of ended.entries()) {
      expect([code, stderr], `${index}: ${row[place]}`).toEqual([0, ''])
      const written = / > ~\/(\S+)$/.exec(examples.get(row[place]!)!)?.[1]
      const document = JSON.parse(written ? readFileSync(join(cwd, written), 'utf8') : stdout)
      expect(document).toBeTypeOf('object')
    }
  }

  const args = examples.get('serve')!.replace('8080', '0').split(' ').slice(2)
  const server = await serve({ cwd }, ...args)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect(await runExample(cwd, 'reload', examples.get('reload')!)).toMatchObject({ code: 0, stderr: '' })
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
})

/** `chat-server` as an installed command. */
function wrapper(): string {
  return `#!/bin/sh\nexec ${commandOf([])
    .map((word) => `'${word}'`)
    .join(' ')} "$@"\n`
}

/** Runs an example in a shell, in its own home folder, with SQLite in place of PostgreSQL. */
function runExample(cwd: string, command: string, example: string): Promise<Finished> {
  const line = example
    .replace(/postgres:\S+/, command === 'import' ? 'sqlite:./imported.db' : 'sqlite:./data/chat.db')
    .replace(`chat-server ${command}`, `chat-server ${command} --json`)
  const env = {
    HOME: cwd,
    PATH: `${cwd}:${process.env.PATH}`,
    CHAT_SECURITY__PASSWORD__BCRYPT_COST: '10',
    CHAT_LOG__LEVEL: 'warn',
    CHAT_BACKUP__TARGET: './backups',
    CHAT_WEBHOOKS__ENABLED: 'true',
  }
  return new Promise((resolve) => {
    // No server listens there, whatever else runs on this machine.
    const all = { ...env, ...(command === 'doctor' && { CHAT_SERVER__PORT: '9' }) }
    execFile('sh', ['-c', line], { cwd, env: all }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    }).stdin?.end()
  })
}

/** Creates the entities of the examples, with the ids they have there. */
async function withIds(cwd: string): Promise<void> {
  const ids: string[] = []
  const storage = await openStorage({ database: `sqlite:${join(cwd, 'data', 'chat.db')}` })
  const chat = createChatService(parseConfig({ hooks: { enabled: true }, webhooks: { enabled: true } }), storage, {
    id: () => ids.shift() ?? newId(),
  })
  await chat.start({ background: false })
  const { id } = await chat.users.find(OPERATOR, 'ada')
  const ada = await chat.users.actor(id)
  await chat.users.create(OPERATOR, { username: 'hopper', email: 'rear-admiral@example.org' })
  ids.push(CONVERSATION)
  await chat.conversations.create(ada, {})
  ids.push(newId(), newId(), HOOK)
  await chat.hooks.create(OPERATOR, CONVERSATION, { name: 'Alerts' })
  ids.push(WEBHOOK)
  await chat.webhooks.create(OPERATOR, { url: 'https://receiver.invalid/events' })
  ids.push(INVITE)
  await chat.invites.create(ada, CONVERSATION, {})
  ids.push(NEWCOMER)
  await chat.newcomers.invite(OPERATOR, { email: 'newcomer@example.org', mail: false })
  ids.push(KEY)
  await chat.keys.create(ada, { name: 'Nightly report' })
  ids.push(SERVER_KEY)
  await chat.serverKeys.create(OPERATOR, { name: 'Shop', scopes: ['act_as'] })
  const profile = await chat.limits.createProfile(OPERATOR, {
    name: 'fast',
    params: { requests_per_second: 100, burst: 100 },
  })
  ids.push(ASSIGNMENT)
  const { limitedEndpoints } = await import('../../lib/http/request/rate-limit.ts')
  await chat.limits.createAssignment(OPERATOR, limitedEndpoints, {
    profile_id: profile.id,
    method: 'GET',
    path: '/api/auth/me',
  })
  await storage.close()
}

it('every command and every flag has a description', async () => {
  for (const { path, description, example, commands, flags } of await describeCommands(root)) {
    expect(description, path).toMatch(/^[A-Z].+[^.]$/)
    expect(Boolean(example), path).toBe(commands.length === 0 || path === 'chat-server backup')
    for (const flag of flags) expect(flag.description, `${path} --${flag.name}`).toMatch(/^\S.+[^.]$/)
  }
})
