import { ChatError, type ErrorCode, setMessages } from './chat-error.ts'

export { ChatError, type ErrorCode, type ErrorDetails, type FieldError, STATUSES } from './chat-error.ts'

/** The default message of every failure. */
export const MESSAGES: Record<ErrorCode, string> = {
  bad_request: 'The address of the request is not in its plain form.',
  malformed_json: 'The body is not valid JSON in UTF-8.',
  already_set_up: 'The service is already set up.',
  oauth_state_invalid: 'This sign-in has expired or was begun elsewhere: begin again.',
  oauth_denied: 'The sign-in was refused.',
  unauthenticated: 'Sign in first.',
  session_expired: 'The session has expired.',
  invalid_credentials: 'The e-mail or the password is wrong.',
  csrf_failed: 'The CSRF token is missing or does not belong to this session.',
  forbidden: 'You may not do this.',
  confirmation_required: 'Confirm your password first, or sign in again: this sign-in is too old.',
  account_disabled: 'This account is disabled.',
  invite_email_mismatch: 'The invite is for another e-mail.',
  signup_disabled: 'New accounts are not taken here.',
  not_found: 'There is nothing here, or it is not yours to see.',
  method_not_allowed: 'This address does not answer that method.',
  request_timeout: 'The body took too long to arrive.',
  conflict: 'This conflicts with what is there.',
  already_participant: 'This user already takes part in the conversation.',
  last_owner: 'A conversation cannot be without an owner.',
  message_deleted: 'The message is deleted.',
  message_streaming: 'The assistant is still writing the message.',
  message_not_deleted: 'The message is not deleted.',
  email_taken: 'An account with this e-mail exists.',
  username_taken: 'An account with this username exists.',
  idempotency_mismatch: 'The Idempotency-Key was used for another request.',
  attachment_not_ready: 'The file is not ready: it is being uploaded, or checked.',
  attachment_refused: 'The file was refused by the check of files.',
  quota_exceeded: 'Your files would take more space than you have.',
  setup_required: 'Create the first administrator first.',
  profile_in_use: 'The profile is still assigned to a route.',
  invite_expired: 'The invite has expired.',
  invite_revoked: 'The invite was revoked.',
  invite_used: 'The invite is used up.',
  payload_too_large: 'The body is too large.',
  unsupported_media_type: 'Send the body as application/json.',
  range_not_satisfiable: 'The file has no such bytes.',
  validation_failed: 'The request does not have the expected shape.',
  invalid_cursor: 'The cursor is not one of this list.',
  thread_too_deep: 'The thread cannot be nested any deeper.',
  rate_limited: 'Too many requests: wait a moment.',
  too_many_streams: 'Too many open streams.',
  internal: 'Something went wrong on our side.',
  oauth_provider_error: 'The sign-in provider did not answer as it should.',
  unavailable: 'The service cannot answer right now.',
  storage_full: 'The storage is full.',
}

setMessages(MESSAGES)

/** The cause of a failure, for the log: for one with a general message, its `cause`. */
export function causeText(error: unknown): string {
  return String((error instanceof ChatError && error.cause) || error)
}
