// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
export type { AuditPage, AuditRecord } from './audit.ts'
export type { KeyOfUser, KeysOfUsers } from './keys.ts'
export type {
  LimitAssignment,
  LimitProfile,
  LimitRate,
  LimitReset,
  LimitResetOfAddress,
  LimitResetOfUser,
  LimitStatus,
  SignInCounts,
  Throttled,
} from './limits.ts'
export type { InvitedNewcomer, Newcomer, NewcomerPage } from './newcomers.ts'
export type { NodeList, NodeRecord } from './nodes.ts'
export type {
  Completion,
  CompletionAnswer,
  CompletionChoice,
  CompletionChunk,
  CompletionChunkChoice,
  CompletionDelta,
  CompletionMessage,
  CompletionUsage,
  Model,
  ModelChoice,
  Models,
  OtherPart,
  Part,
  TextPart,
} from './openai.ts'
export type { Health, Readiness, ReadinessChecks } from './ops.ts'
export type { TaskPage, TaskRecord } from './tasks.ts'
export type { StorageUsage, StorageUsagePage } from './usage.ts'
export type {
  Account,
  AccountAnswer,
  AccountFacts,
  AccountPage,
  Lockdown,
  ResetLink,
  Revoked,
  SessionOfUser,
  SessionsOfUsers,
} from './users.ts'
