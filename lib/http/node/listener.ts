import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Chat } from '../../service.ts'
import { createChatApp, createNodeHandler } from '../app.ts'

/** The service as a listener of `node:http`. */
export function createNodeListener(chat: Chat): (request: IncomingMessage, response: ServerResponse) => void {
  return createNodeHandler(createChatApp(chat))
}
