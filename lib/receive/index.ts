export type { FeedEvent } from '../api/feed.ts'
export { type Applied, applyOnce, type PageMove } from './apply-once.ts'
export type { NodeReceiver } from './node-handler.ts'
export { type PgPool, type PgPoolClient, type PgTransaction, pgStore } from './pg-store.ts'
export type { PullClient, PulledPage, PullOptions, PullQuery } from './pull.ts'
export { ReceiveError, type ReceiveErrorCode } from './receive-error.ts'
export { receiveSchema } from './receive-schema.ts'
export type { Forgetting, Move, ReceivePositions, ReceiveStore, ReceiveUnit } from './receive-store.ts'
export type { AppliedEvent, Effect, ReceiveReset } from './received-event.ts'
export { createReceiver, type Receiver, type ReceiverOptions } from './receiver.ts'
export { type SqliteDatabase, type SqliteStatement, sqliteStore } from './sqlite-store.ts'
export {
  verifyWebhook,
  type WebhookBody,
  type WebhookCall,
  type WebhookHeaders,
  type WebhookKeys,
} from './verify-webhook.ts'
