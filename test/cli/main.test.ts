import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { finished, folder, run, start } from './process.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** A pattern for a stack trace, by its error name or a frame. */
const STACK = /\n\s+at |node:internal|file:\/\//

const COMMANDS = ['serve', 'setup', 'migrate', 'user list', 'user create', 'openapi']
COMMANDS.push('config init', 'config check', 'config print', 'session list', 'session revoke', 'audit list')
COMMANDS.push('user set-password', 'user set-roles', 'user disable', 'user enable', 'user lockdown', 'user erase')
COMMANDS.push('invite create', 'invite list', 'invite revoke', 'nodes list', 'reload', 'init nginx', 'init prometheus')
COMMANDS.push('user invite', 'user invites', 'user revoke-invite')
COMMANDS.push('user show', 'user export', 'user unlock', 'user set-username')
COMMANDS.push('access explain')
COMMANDS.push('bot create', 'bot list', 'bot set', 'bot give', 'bot erase', 'bot create-key', 'bot list-keys')
COMMANDS.push('bot commands')
COMMANDS.push('assistant list', 'assistant try', 'usage report', 'usage quota')
COMMANDS.push('hook create', 'hook list', 'hook delete')
COMMANDS.push('webhook create', 'webhook list', 'webhook set', 'webhook delete')
COMMANDS.push('webhook verify', 'webhook test', 'webhook rotate', 'webhook deliveries', 'webhook replay')
COMMANDS.push('conversation list', 'conversation show', 'conversation set', 'conversation delete')
COMMANDS.push('mail test', 'mail queue list', 'mail queue retry', 'mail queue drop')

const REFUSALS: [line: string, message: string][] = [
  ['nope', 'chat-server has no command "nope"'],
  ['toString', 'chat-server has no command "toString"'],
  ['--nope', '--nope is not a flag of this command'],
  ['serv', 'chat-server has no command "serv", did you mean "serve"?'],
  ['user lst', 'chat-server user has no command "lst", did you mean "list"?'],
  ['serve --prot 80', '--prot is not a flag of this command, did you mean "--port"?'],
  ['config init --output a.json', '--output must end in .toml, .yaml or .yml, not a.json'],
  ['backup - --force', '--force and "-" exclude each other: standard output is not a file to replace'],
  ['user', 'chat-server user needs a command'],
  ['user nope', 'chat-server user has no command "nope"'],
  ['config check --nope=1', '--nope is not a flag of this command'],
  ['config check -j', '-j is not a flag of this command'],
  ['config check --no-json', '--no-json is not a flag of this command'],
  ['config check --json=1', '--json takes no value'],
  ['config check --config', '--config needs a value'],
  ['config check extra', 'chat-server config check cannot use "extra"'],
  ['config check -- extra', 'chat-server config check cannot use "extra"'],
  ['openapi --format xml', 'Invalid value for argument: --format (xml). Expected one of: json, yaml.'],
  ['setup', 'chat-server setup needs <email>, or --email'],
  ['user erase --user ada', 'this cannot be undone: add --yes'],
  ['user disable', 'chat-server user disable needs <user>, or --user'],
  ['user show ada --user grace', '"ada" and --user grace exclude each other: give one of them'],
  ['user reset-link', 'use one of --user and --email'],
  ['user reset-link --user ada --email ada@example.org', 'use one of --user and --email'],
  ['mail queue retry', 'use exactly one of --id and --all'],
  ['mail queue drop --all --id 1', 'use exactly one of --id and --all'],
  ['user invite', 'Missing required positional argument: EMAIL'],
  ['conversation set --id 1', 'name what to change, such as --visibility listed; --help lists it all'],
  ['conversation set --id 1 --freeze --unfreeze', '--freeze and --unfreeze exclude each other'],
  ['bot set deploys', 'name what to change, such as --description "What it does"; --help lists it all'],
  ['bot set deploys --disable --enable', '--disable and --enable exclude each other'],
  ['bot erase deploys', 'this cannot be undone: add --yes'],
  ['conversation delete --id 1', 'this cannot be undone: add --yes'],
  ['session revoke', 'use exactly one of --id, --user and --all'],
  ['session revoke --all --user ada', 'use exactly one of --id, --user and --all'],
  ['migrate --plan --status', '--plan and --status exclude each other'],
]

describe('chat-server', () => {
  it('shows its usage without arguments and with --help, and its version', async () => {
    const cwd = folder()
    const [bare, help, short, group, versions] = await Promise.all([
      run([], { cwd }),
      run(['--help'], { cwd }),
      run(['-h'], { cwd }),
      run(['user', '--help'], { cwd }),
      run(['--version'], { cwd }),
    ])
    expect(bare).toMatchObject({ code: 0, stderr: '' })
    expect(bare.stdout).toContain('USAGE chat-server serve|setup|reload|migrate|user|')
    expect([help, short]).toEqual([bare, bare])
    expect(group.stdout).toContain(
      'USAGE chat-server user list|show|create|import|export|set-password|set-email|set-username|set-roles|reset-link|disable|enable|unlock|lockdown|erase|merge|invite|invites|revoke-invite',
    )
    expect(versions).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('has help with an example and the common flags for each command', { timeout: 120_000 }, async () => {
    const cwd = folder()
    const helps = await Promise.all(COMMANDS.map((command) => run([...command.split(' '), '--help'], { cwd })))
    for (const [index, { code, stdout, stderr }] of helps.entries()) {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(new RegExp(`EXAMPLE\\n\\n {2}(\\w+=\\d+ )?chat-server ${COMMANDS[index]}`))
      for (const flag of ['--json', '--config=<file>', '--database=<url>']) expect(stdout).toContain(flag)
      expect(stdout).not.toContain('\u001b')
    }
  })

  it('refuses unknown commands and flags with the usage, on standard error, and exit code 2', {
    timeout: 120_000,
  }, async () => {
    const cwd = folder()
    const runs = await Promise.all(REFUSALS.map(([line]) => run(line.split(' '), { cwd })))
    for (const [index, { code, stdout, stderr }] of runs.entries()) {
      const [line, message] = REFUSALS[index]!
      expect(stderr.trimEnd().split('\n').at(-1), line).toBe(`chat-server: ${message}`)
      expect(stderr).toContain('USAGE chat-server')
      expect(stderr).not.toMatch(STACK)
      expect([code, stdout]).toEqual([2, ''])
    }
  })

  it('prints a refusal as one document under --json', async () => {
    const { code, stdout } = await run(['user', 'nope', '--json'], { cwd: folder() })
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'usage', message: 'chat-server user has no command "nope"' } })
  })

  it('ends quietly when its output is closed', async () => {
    const child = start(['openapi'], { cwd: folder() })
    child.stdout.destroy()
    const { code, stderr } = await finished(child)
    expect([code, stderr]).toEqual([1, ''])
  })
})
