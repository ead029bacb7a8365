export { type JwtOptions, jwtIdentity } from './accounts/jwt/port.ts'
export type * from './api/entities.ts'
export type {
  AnswerPiece,
  Assistant,
  AssistantRequest,
  GivenPart,
  HostedAssistant,
  OfferedTool,
  PartPiece,
  ProviderSource,
  ProviderTool,
  TextPiece,
  Turn,
} from './assistant/provider.ts'
export {
  type ApprovalOptions,
  type DefinedTool,
  defineTool,
  type ToolCall,
  type ToolDefinition,
  ToolFailure,
  type ToolInput,
  type ToolPart,
  type ToolResult,
  type ToolUser,
  toolResult,
  type Validated,
} from './assistant/tools/definition.ts'
export type { StandardIssue, StandardSchema } from './assistant/tools/standard-schema.ts'
export { AnswerFailure } from './chat/answers/answer-failure.ts'
export type { MeterEntry } from './chat/metering/entry.ts'
export { type Config, ConfigError, type ConfigInput, parseConfig } from './config/parse.ts'
export type { Reloaded } from './config/reload.ts'
export type { Actor, Role, SystemProfile } from './core/actor.ts'
export { OPERATOR } from './core/actor.ts'
export { ChatError, type ErrorCode, type ErrorReason, type FieldError } from './core/errors.ts'
export type { StartOptions } from './core/start-options.ts'
export type { Mail } from './mail/mail.ts'
export type {
  AnswerAfter,
  AnswerVerdict,
  Bus,
  EventAfter,
  FileToCheck,
  Hooks,
  HostNotification,
  Identity,
  IdentityRequest,
  JoinBefore,
  JoinVerdict,
  Log,
  MessageBefore,
  MessageVerdict,
  Ports,
  Recipient,
  ScanVerdict,
  Thumbnail,
  ToolBefore,
  ToolVerdict,
} from './ports.ts'
export { type Chat, createChatService } from './service.ts'
export type { CopyOptions, Settled } from './storage/archive/copied.ts'
export { openStorage, type Storage, type StorageOptions } from './storage/open.ts'
export { postgresConnector } from './storage/postgres/connector.ts'
export type { HostPool } from './storage/postgres/host-pool.ts'
export { restoreStorage } from './storage/restore.ts'
