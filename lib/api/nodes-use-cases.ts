// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { NodeList } from './nodes.ts'

/** `chat.nodes`. */
export interface NodesUseCases {
  /**
   * The running processes that share the database, first started first, at most 1,000.
   *
   * @throws ChatError `forbidden`
   */
  list(actor: Actor): Promise<NodeList>
}
