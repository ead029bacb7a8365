import { defineCommand as defineGroup } from 'citty'
import type { CommandsInput } from '../../lib/chat/commands/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { instantOf } from '../args/instant.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { inFile, readJsonFile } from '../json-file.ts'
import { oneLine, print, printNote, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const botArg = { bot: { ...userArg.user, description: 'Username or id of the bot' } }
const ownerArg = {
  owner: { type: 'string', required: true, valueHint: 'name', description: 'Username, email address or id' },
} as const

const create = defineCommand({
  meta: { name: 'create', description: 'Make a bot for a user, with its first API key' },
  example: 'chat-server bot create deploys --owner grace --description "Posts what is deployed" --json',
  args: {
    username: { type: 'string', required: true, valueHint: 'name', description: 'Unique name that others see' },
    ...ownerArg,
    'display-name': { type: 'string', description: 'Name shown instead of the username' },
    description: { type: 'string', description: 'What it does' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const { username, 'display-name': display_name, description } = args
      const owner_id = await resolveUserId(chat, args.owner)
      const created = await chat.bots.create(OPERATOR, { username, display_name, description, owner_id })
      if (!args.json) printNote('The key is shown only once.')
      print(args, created, created.key)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the bots of a user' },
  example: 'chat-server bot list --owner grace --json',
  args: { ...ownerArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const answer = await chat.bots.list(OPERATOR, { owner_id: await resolveUserId(chat, args.owner) })
      const rows = answer.bots.map(({ id, username, created_at, disabled, description = '' }) => [
        id,
        username,
        created_at,
        disabled ? 'disabled' : 'active',
        description,
      ])
      print(args, answer, table(['ID', 'USERNAME', 'CREATED', 'STATUS', 'DESCRIPTION'], rows))
    }),
})

const set = defineCommand({
  meta: { name: 'set', description: 'Rename, describe, disable or enable a bot' },
  example: 'chat-server bot set deploys --description "Posts what is deployed, and where" --json',
  args: {
    ...botArg,
    username: { type: 'string', description: 'Its new name' },
    'display-name': { type: 'string', description: 'Name shown instead of the username; an empty text removes it' },
    description: { type: 'string', description: 'What it does; an empty text removes it' },
    disable: { type: 'boolean', description: 'Refuse its keys' },
    enable: { type: 'boolean', description: 'Accept its keys again' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { username, 'display-name': display_name, description, disable, enable } = args
    if (disable && enable) throw new UsageError('--disable and --enable exclude each other')
    const disabled = disable ? true : enable ? false : undefined
    const changes = { username, display_name, description, disabled }
    if (Object.values(changes).every((value) => value === undefined))
      throw new UsageError('name what to change, such as --description "What it does"; --help lists it all')
    await withChat(args, async (chat) => {
      const changed = await chat.bots.change(OPERATOR, await resolveUserId(chat, args.bot), changes)
      print(args, changed, oneLine(`Bot ${changed.bot.username} is changed.`))
    })
  },
})

const give = defineCommand({
  meta: { name: 'give', description: 'Give a bot to another user; its keys stay' },
  example: 'chat-server bot give deploys --owner ada --json',
  args: { ...botArg, ...ownerArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const owner_id = await resolveUserId(chat, args.owner)
      const given = await chat.users.change(OPERATOR, await resolveUserId(chat, args.bot), { owner_id })
      print(args, given, oneLine(`Bot ${given.user.username} belongs to ${args.owner} now.`))
    }),
})

const remove = defineCommand({
  meta: { name: 'erase', description: 'Erase a bot, with or without its messages' },
  example: 'chat-server bot erase deploys --yes --json',
  args: {
    ...botArg,
    messages: {
      type: 'enum',
      options: ['keep', 'erase'],
      default: 'keep',
      description: 'Keep its messages without an author, or erase them',
    },
    yes: { type: 'boolean', description: 'Required, because it cannot be undone' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (!args.yes) throw new UsageError('this cannot be undone: add --yes')
    const messages = args.messages as 'keep' | 'erase'
    await withChat(args, async (chat) => {
      const bot_id = await resolveUserId(chat, args.bot)
      await chat.bots.remove(OPERATOR, bot_id, { messages })
      print(args, { bot_id, messages }, oneLine(`Bot ${args.bot} is erased.`))
    })
  },
})

const createKey = defineCommand({
  meta: { name: 'create-key', description: 'Create another API key of a bot' },
  example: 'chat-server bot create-key deploys --name "The new server" --json',
  args: {
    ...botArg,
    name: { type: 'string', required: true, description: 'What the key is for' },
    expires: { type: 'string', description: 'Until this day (UTC) or instant: 2027-06-30, 2027-06-30T12:00:00Z' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const bot_id = await resolveUserId(chat, args.bot)
      const input = { name: args.name, expires_at: instantOf('expires', args.expires) }
      const created = await chat.bots.createKey(OPERATOR, bot_id, input)
      if (!args.json) printNote('The key is shown only once.')
      print(args, created, created.key)
    }),
})

const listKeys = defineCommand({
  meta: { name: 'list-keys', description: 'List the API keys of a bot, newest first; "key revoke" revokes one' },
  example: 'chat-server bot list-keys deploys --json',
  args: { ...botArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const answer = await chat.bots.listKeys(OPERATOR, await resolveUserId(chat, args.bot))
      const rows = answer.keys.map(({ id, name, created_at, last_used_at = 'never', expires_at = 'never' }) => [
        id,
        name,
        created_at,
        last_used_at,
        expires_at,
      ])
      print(args, answer, table(['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES'], rows))
    }),
})

const commands = defineCommand({
  meta: { name: 'commands', description: 'List the commands of a bot, or set them to those of a file' },
  example: 'chat-server bot commands deploys --set commands.json --json',
  args: {
    ...botArg,
    set: {
      type: 'string',
      valueHint: 'file',
      description: '{ "commands": [ … ] } as of PUT /api/bots/{bot_id}/commands: all its commands from now on',
    },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const input = args.set === undefined ? undefined : ((await readJsonFile(args.set)) as CommandsInput)
    await withChat(args, async (chat) => {
      const bot_id = await resolveUserId(chat, args.bot)
      const answer = input
        ? await inFile(args.set!, '{ "commands": [ … ] }', chat.commands.setOfBot(OPERATOR, bot_id, input))
        : await chat.commands.listOfBot(OPERATOR, bot_id)
      const rows = answer.commands.map(({ name, description, options = [] }) => [
        `/${name}`,
        options.map((option) => (option.required ? option.name : `[${option.name}]`)).join(' '),
        description,
      ])
      print(args, answer, table(['COMMAND', 'OPTIONS', 'DESCRIPTION'], rows))
    })
  },
})

export default defineGroup({
  meta: { name: 'bot', description: 'Make, list, change, give away and erase bots of users' },
  subCommands: {
    create,
    list,
    set,
    give,
    erase: remove,
    commands,
    'create-key': createKey,
    'list-keys': listKeys,
  },
})
