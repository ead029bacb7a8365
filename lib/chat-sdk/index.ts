export { type ChatServerAdapter, type ChatServerAdapterOptions, createChatServerAdapter } from './adapter.ts'
export type { ChatServerThreadId } from './thread-ids.ts'
