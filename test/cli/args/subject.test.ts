import { describe, expect, it } from 'vitest'
import { checkArgs, findCommand, UsageError } from '../../../cli/args/command.ts'
import { nameSubject } from '../../../cli/args/subject.ts'
import { renderCommandUsage } from '../../../cli/args/usage.ts'
import { root } from '../../../cli/commands.ts'
import { describeCommands } from '../../../cli/completion/describe.ts'

const commands = (await describeCommands(root)).map((command) => ({
  ...command,
  words: command.path.split(' ').slice(1),
  required: command.flags.filter(({ required }) => required),
}))
const parse = async (words: string[]) => nameSubject(await findCommand(root, words))

describe('a command with exactly one required argument', () => {
  const all = commands.filter(({ positionals, required }) => required.length + positionals.length === 1)

  it('is most of those that are about one thing', () => {
    expect(all.length).toBeGreaterThan(20)
  })

  it.each(all.filter(({ positionals }) => positionals.length === 0))(
    '$path takes it as a word and as a flag',
    async (command) => {
      const { path, words, subject } = command
      const { name } = subject!
      expect(name).toBe(command.required[0]!.name)
      const flag = `--${name}`
      for (const given of [
        ['grace'],
        [flag, 'grace'],
        [`${flag}=grace`],
        ['grace', flag, 'grace'],
        ['--json', 'grace'],
        ['--', 'grace'],
      ]) {
        const found = await parse([...words, ...given])
        expect(found.rawArgs.join(' ')).toMatch(new RegExp(`${flag}[= ]grace`))
        await expect(checkArgs(found)).resolves.toBeUndefined()
      }
      await expect(parse([...words, 'grace', flag, 'ada'])).rejects.toThrow(UsageError)
      await expect(parse([...words, '--json'])).rejects.toThrow(`${path} needs <${name}>, or ${flag}`)
      await expect(parse([...words, 'grace', 'ada']).then(checkArgs)).rejects.toThrow(`${path} cannot use "ada"`)
      expect(await renderCommandUsage(await findCommand(root, words), process.stdout)).toContain(
        `<${name.toUpperCase()}>`,
      )
    },
  )
})

it('of several required flags the first may be a word, and of none --user or --id', async () => {
  const subjects = Object.fromEntries(
    commands.map(({ path, subject }) => [path.replace('chat-server ', ''), subject?.name]),
  )
  expect(subjects).toMatchObject({
    'user create': 'username',
    'user set-roles': 'user',
    'limits profiles update': 'profile',
    'key list': 'user',
    'key revoke': 'id',
    'server-key revoke': 'id',
    'session list': 'user',
    'session revoke': 'user',
    'mail queue retry': 'id',
    serve: undefined,
    'backup verify': undefined,
    'user list': undefined,
  })
  const { rawArgs } = await parse(['session', 'list', 'grace', '--limit', '5'])
  expect(rawArgs).toEqual(['--user=grace', '--limit', '5'])
})

it('a mistyped command is not taken for a word', async () => {
  await expect(parse(['user', 'shwo', 'grace']).then(checkArgs)).rejects.toThrow(
    'chat-server user has no command "shwo"',
  )
  await expect(parse(['events', 'prune', 'grace']).then(checkArgs)).rejects.toThrow('cannot use "grace"')
})
