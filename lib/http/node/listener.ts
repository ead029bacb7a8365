import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Chat } from '../../service.ts'
import { createChatApp, createNodeHandler } from '../app.ts'
import { SOCKET_PEER } from '../request/client-address.ts'
import type { WebPage } from '../web-page.ts'

/**
 * The service as a listener of `node:http`.
 *
 * @param options `isSocket`: whether the server listens on a Unix domain socket; asked for each request without an address.
 *   `web`: the page at its root
 */
export function createNodeListener(
  chat: Chat,
  { isSocket = () => false, web }: { isSocket?: () => boolean; web?: WebPage | undefined } = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const addressOf = (request: Request & { ip?: string }) => request.ip ?? (isSocket() ? SOCKET_PEER : undefined)
  return createNodeHandler(createChatApp(chat, { addressOf, web }))
}
