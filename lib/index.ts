export { AnswerFailure } from './assistant/failure.ts'
export type { AnswerPiece, Assistant, AssistantRequest, Turn } from './assistant/provider.ts'
export { type Chat, createChatService } from './service.ts'
export { type Config, ConfigError, parseConfig } from './config/parse.ts'
export {
  type Actor,
  type Identity,
  type IdentityRequest,
  type Log,
  type Mail,
  OPERATOR,
  type Ports,
  type Role,
} from './context.ts'
export { ChatError, type ErrorCode, type FieldError } from './core/errors.ts'
export type { ConversationStreamEvent } from './chat/events/schema.ts'
export type { Message } from './chat/messages/schema.ts'
export { openStorage, restoreStorage, type Storage, type StorageOptions } from './storage/open.ts'
export { postgresConnector } from './storage/postgres/database.ts'
