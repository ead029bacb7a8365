import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const create = defineCommand({
  meta: { name: 'create', description: 'Add a client of the authorization server that has no document of its own' },
  example: 'chat-server client create --name "Our editor" --redirect http://127.0.0.1/callback --json',
  args: {
    name: { type: 'string', required: true, description: 'Shown to users when the client asks them' },
    redirect: {
      type: 'string',
      required: true,
      description:
        'Where it sends users back to: https, or http on this machine at any port; several with spaces between',
    },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const redirect_uris = args.redirect.split(' ').filter((uri) => uri !== '')
      const client = await chat.oauthClients.create(OPERATOR, { name: args.name, redirect_uris })
      print(args, client, client.client_id)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the clients that were added here, and others that users have connected' },
  example: 'chat-server client list --json',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const answer = await chat.oauthClients.list(OPERATOR)
      const rows = answer.clients.map((client) => [
        client.client_id,
        client.kind,
        client.name,
        client.redirect_uris.join(' '),
        String(client.grants),
        client.created_at,
        client.last_used_at ?? 'never',
      ])
      print(args, answer, table(['ID', 'KIND', 'NAME', 'REDIRECTS', 'GRANTS', 'CREATED', 'LAST USED'], rows))
    }),
})

const remove = defineCommand({
  meta: { name: 'delete', description: 'Delete a client, with what users have allowed it' },
  example: 'chat-server client delete 01980a3c-7000-7a10-8b20-0c4f1d2e3a90',
  args: { id: { type: 'string', required: true, description: 'Id from `client list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.oauthClients.remove(OPERATOR, args.id)
      print(args, { client_id: args.id }, `Deleted: no client has the id ${args.id} any more.`)
    }),
})

export default defineGroup({
  meta: { name: 'client', description: 'Clients of the authorization server that have no document of their own' },
  subCommands: { create, list, delete: remove },
})
