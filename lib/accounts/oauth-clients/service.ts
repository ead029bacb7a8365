import { assertOperator } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { isRedirectUri } from './rules.ts'
import { type ListedClient, type OperatorClient, OperatorClientInput, type OperatorClients } from './schema.ts'
import {
  type CountedClientRow,
  deleteClient,
  deleteGrantsOfClient,
  insertClient,
  listClients,
  lockAndCountClients,
} from './store.ts'

/** The maximum number of clients of the operator: more than an organisation has programs, and a bound for a loop that creates them. */
const MAX_OWN_CLIENTS = 100

/**
 * Adds a client of the authorization server that has no metadata document of its own. It proves itself by its id alone, as a program
 * on a computer can.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `validation_failed`; `conflict` with too many
 */
export const create = useCase({
  takes: ['actor'],
  input: OperatorClientInput,
  errors: ['forbidden', 'conflict', 'validation_failed'],
  run: async (ctx, actor, { name, redirect_uris }): Promise<OperatorClient> => {
    assertOperator(actor)
    const wrong = redirect_uris.findIndex((uri) => !isRedirectUri(uri))
    if (wrong !== -1)
      throw invalid(`redirect_uris[${wrong}]`, 'must be https://, or http:// on 127.0.0.1, [::1] or localhost')
    return ctx.write(async (tx) => {
      if ((await lockAndCountClients(tx, 'operator')) >= MAX_OWN_CLIENTS)
        throw new ChatError('conflict', {
          message: `A service has at most ${MAX_OWN_CLIENTS} clients of its operator: delete one.`,
        })
      const client = { client_id: ctx.id(), name, redirect_uris, created_at: ctx.now() }
      await insertClient(tx, { ...client, kind: 'operator' })
      const detail = { redirect_uris }
      tx.audit({
        act: 'oauth_client.created',
        ...byActor(actor),
        subject_id: client.client_id,
        detail,
        names: { client: name },
      })
      return { ...client, created_at: toInstant(client.created_at) }
    })
  },
})

/** The maximum number of clients of others in a list. */
const MAX_LISTED = 1_000

/**
 * All clients of the operator, newest first, then those with a document of their own or a registration that users allow something, the
 * latest used first, up to 1,000.
 *
 * @throws ChatError `forbidden` unless the actor is the operator
 */
export const list = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: async (ctx, actor): Promise<OperatorClients> => {
    assertOperator(actor)
    return { clients: (await listClients(ctx.db, MAX_LISTED)).map(toListed) }
  },
})

/**
 * Deletes a client; what users have allowed it ends. One that does not exist any more is no error. A client with a document of its own
 * can ask users again.
 *
 * @throws ChatError `forbidden` unless the actor is the operator
 */
export const remove = useCase({
  takes: ['actor', 'client_id'],
  errors: ['forbidden'],
  frees: 'whole',
  run: async (ctx, actor, clientId): Promise<void> => {
    assertOperator(actor)
    await ctx.write(async (tx) => {
      const client = await deleteClient(tx, clientId)
      if (!client) return
      const detail = { grants: await deleteGrantsOfClient(tx, clientId) }
      tx.audit({
        act: 'oauth_client.deleted',
        ...byActor(actor),
        subject_id: clientId,
        detail,
        names: { client: client.name },
      })
      // All streams: any number of users may have allowed it something.
      tx.recheckStreams({ user_id: undefined })
    })
  },
})

function toListed({ id, kind, name, redirect_uris, grants, created_at, last_used_at }: CountedClientRow): ListedClient {
  return {
    client_id: id,
    kind,
    name,
    redirect_uris: JSON.parse(redirect_uris),
    grants,
    created_at: toInstant(created_at),
    ...(last_used_at > created_at && { last_used_at: toInstant(last_used_at) }),
  }
}
