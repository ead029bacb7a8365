import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from '../../../cli/commands.ts'
import { describeCommands } from '../../../cli/completion/describe.ts'
import { completionFor, type Shell } from '../../../cli/completion/scripts.ts'
import { folder, run } from '../process.ts'

const LONG = { timeout: 60_000 }
const sh = promisify(execFile)

/** A folder with the script for a shell, and a file to complete. */
async function withScript(shell: Shell): Promise<string> {
  return folder({ script: completionFor(shell, await describeCommands(root)), 'my chat.toml': '', 'chat.db': '' })
}

function has(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0
}

/** The completions of a line, the same in every shell. */
const CASES: [line: string, ...found: string[]][] = [
  ['chat-server us', 'usage', 'user'],
  ['chat-server user re', 'reset-link', 'revoke-invite'],
  ['chat-server no', 'nodes'],
  ['chat-server nodes ', 'list'],
  ['chat-server mail queue ', 'drop', 'list', 'retry'],
  ['chat-server user set-', 'set-email', 'set-password', 'set-roles', 'set-username'],
  ['chat-server limits assignments cr', 'create'],
  ['chat-server completion ', 'bash', 'fish', 'zsh'],
  ['chat-server serve --po', '--port'],
  ['chat-server user create --d', '--database', '--display-name'],
  ['chat-server openapi --format ', 'json', 'yaml'],
  ['chat-server user erase --user ada --messages k', 'keep'],
  ['chat-server serve --port ', ...[]],
  ['chat-server user nonsense', ...[]],
  ['chat-server backup ch', 'chat.db'],
]

describe.skipIf(!has('bash'))('completion in bash', () => {
  async function complete(cwd: string, words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const ask = `source ./script; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}
      $(complete -p chat-server | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await sh('bash', ['--norc', '-c', ask], { cwd })
    return stdout.split('\n').filter(Boolean).sort()
  }

  it.each(CASES)('of %j', LONG, async (line, ...found) => {
    expect(await complete(await withScript('bash'), line.split(' '))).toEqual(found)
  })

  it('splits words as bash does, and keeps the spaces of a name', LONG, async () => {
    const cwd = await withScript('bash')
    expect(await complete(cwd, ['chat-server', 'openapi', '--format', '=', 'y'])).toEqual(['yaml'])
    expect(await complete(cwd, ['chat-server', 'openapi', '--format', '='])).toEqual(['json', 'yaml'])
    expect(await complete(cwd, ['chat-server', 'serve', '--config', 'my'])).toEqual(['my chat.toml'])
  })
})

describe.skipIf(!has('fish'))('completion in fish', () => {
  it.each(CASES)('of %j', LONG, async (line, ...found) => {
    const cwd = await withScript('fish')
    const ask = `source ./script; complete -C '${line}'`
    const { stdout } = await sh('fish', ['--no-config', '-c', ask], { cwd, env: { ...process.env, HOME: cwd } })
    const names = stdout.split('\n').flatMap((each) => each.split('\t')[0] || [])
    expect(names.sort()).toEqual(found)
  })
})

describe.skipIf(!has('zsh'))('completion in zsh', () => {
  /** The line after Tab is pressed at each \t, in a real shell on a real terminal. */
  async function typed(cwd: string, line: string): Promise<string> {
    writeFileSync(
      join(cwd, 'type'),
      `zmodload zsh/zpty
       zpty shell zsh -f -i
       zpty -w shell 'unsetopt zle_bracketed_paste; stty -echo; PS1=; PS2=; autoload -U compinit; compinit -u -D'
       zpty -w shell 'source ./script; chat-server() { print -r -- "got<$*>" }; print rea""dy'
       zpty -r -m shell out '*ready*'
       zpty -w -n shell ${`$'${line}\\n'`}
       zpty -r -m shell out '*got<*>*'
       print -r -- "$out"
       zpty -d shell`,
    )
    const { stdout } = await sh('zsh', ['-f', 'type'], { cwd, env: { ...process.env, HOME: cwd, TERM: 'dumb' } })
    return [...stdout.matchAll(/got<(.*?)>/g)].at(-1)?.[1] ?? stdout
  }

  it.each([
    ['chat-server use\\tli\\t--js\\t', 'user list --json'],
    ['chat-server limits ass\\tcr\\t--meth\\tGET', 'limits assignments create --method GET'],
    ['chat-server openapi --form\\ty\\t', 'openapi --format yaml'],
    ['chat-server openapi --format=y\\t', 'openapi --format=yaml'],
    ['chat-server serve --config my\\t', 'serve --config my chat.toml'],
    ['chat-server backup chat.\\t', 'backup chat.db'],
  ])('of %j is %j', LONG, async (line, becomes) => {
    expect((await typed(await withScript('zsh'), line)).trim()).toBe(becomes)
  })
})

it('chat-server completion prints the script, alone or in a document', LONG, async () => {
  const cwd = folder()
  const [plain, json] = await Promise.all([
    run(['completion', 'fish'], { cwd }),
    run(['completion', 'fish', '--json'], { cwd }),
  ])
  expect(plain).toMatchObject({ code: 0, stderr: '', stdout: completionFor('fish', await describeCommands(root)) })
  expect(JSON.parse(json.stdout)).toEqual({ shell: 'fish', script: plain.stdout })
})
