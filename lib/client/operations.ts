// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of users, by its feature and verb. */
export const OPERATIONS = {
  answers: {
    cancel: { method: 'POST', path: '/api/messages/{message_id}/cancel' },
    listChunks: { method: 'GET', path: '/api/messages/{message_id}/chunks', input: 'query' },
  },
  attachments: {
    create: { method: 'POST', path: '/api/conversations/{conversation_id}/attachments', input: 'body' },
    get: { method: 'GET', path: '/api/attachments/{attachment_id}' },
    link: { method: 'POST', path: '/api/attachments/{attachment_id}/link', input: 'body', is_optional: true },
    remove: { method: 'DELETE', path: '/api/attachments/{attachment_id}' },
  },
  auth: {
    changePassword: { method: 'POST', path: '/api/auth/password', input: 'body' },
    changeProfile: { method: 'PATCH', path: '/api/auth/me', input: 'body' },
    confirm: { method: 'POST', path: '/api/auth/confirm', input: 'body' },
    listSessions: { method: 'GET', path: '/api/auth/sessions', input: 'query' },
    login: { method: 'POST', path: '/api/auth/login', input: 'body', answer: 'session' },
    logout: { method: 'POST', path: '/api/auth/logout', answer: 'session', ends_session: true },
    me: { method: 'GET', path: '/api/auth/me' },
    refresh: { method: 'POST', path: '/api/auth/refresh', answer: 'session', ends_session: true },
    removeAvatar: { method: 'DELETE', path: '/api/auth/me/avatar' },
    revokeSession: { method: 'DELETE', path: '/api/auth/sessions/{session_id}' },
    setAvatar: { method: 'PUT', path: '/api/auth/me/avatar', input: 'bytes' },
  },
  capabilities: {
    get: { method: 'GET', path: '/api/features' },
  },
  conversations: {
    create: { method: 'POST', path: '/api/conversations', input: 'body' },
    direct: { method: 'POST', path: '/api/conversations/direct', input: 'body' },
    get: { method: 'GET', path: '/api/conversations/{conversation_id}' },
    list: { method: 'GET', path: '/api/conversations', input: 'query' },
    markRead: { method: 'POST', path: '/api/conversations/{conversation_id}/read', input: 'body', is_optional: true },
    markUnread: { method: 'POST', path: '/api/conversations/{conversation_id}/unread', input: 'body' },
    remove: { method: 'DELETE', path: '/api/conversations/{conversation_id}' },
    rename: { method: 'PATCH', path: '/api/conversations/{conversation_id}', input: 'body' },
    setSettings: { method: 'PATCH', path: '/api/conversations/{conversation_id}/settings', input: 'body' },
    settings: { method: 'GET', path: '/api/conversations/{conversation_id}/settings' },
  },
  emails: {
    confirmChange: { method: 'POST', path: '/api/auth/confirm-email', input: 'body' },
    requestChange: { method: 'POST', path: '/api/auth/me/email', input: 'body' },
    sendVerification: { method: 'POST', path: '/api/auth/me/verify-email' },
    undoChange: { method: 'POST', path: '/api/auth/undo-email', input: 'body' },
    verify: { method: 'POST', path: '/api/auth/verify-email', input: 'body' },
  },
  events: {
    stream: { method: 'GET', path: '/api/stream/conversations/{conversation_id}', input: 'query', answer: 'stream' },
    streamAll: { method: 'GET', path: '/api/stream', input: 'query', answer: 'stream' },
  },
  identities: {
    list: { method: 'GET', path: '/api/auth/identities' },
    remove: { method: 'DELETE', path: '/api/auth/identities/{identity_id}' },
  },
  invites: {
    accept: { method: 'POST', path: '/api/invites/accept', input: 'body', answer: 'session', ends_session: true },
    create: { method: 'POST', path: '/api/conversations/{conversation_id}/invites', input: 'body' },
    list: { method: 'GET', path: '/api/conversations/{conversation_id}/invites', input: 'query' },
    revoke: { method: 'POST', path: '/api/invites/{token}/revoke' },
  },
  keys: {
    create: { method: 'POST', path: '/api/auth/keys', input: 'body' },
    list: { method: 'GET', path: '/api/auth/keys' },
    revoke: { method: 'DELETE', path: '/api/auth/keys/{key_id}' },
  },
  messages: {
    edit: { method: 'POST', path: '/api/messages/{message_id}/edit', input: 'body' },
    get: { method: 'GET', path: '/api/messages/{message_id}' },
    list: { method: 'GET', path: '/api/conversations/{conversation_id}/messages', input: 'query' },
    listRevisions: { method: 'GET', path: '/api/messages/{message_id}/revisions', input: 'query' },
    postRoot: { method: 'POST', path: '/api/threads/{conversation_id}/root', input: 'body' },
    remove: { method: 'POST', path: '/api/messages/{message_id}/delete', input: 'body', is_optional: true },
    reply: { method: 'POST', path: '/api/messages/{parent_id}/reply', input: 'body' },
    restore: { method: 'POST', path: '/api/messages/{message_id}/restore' },
  },
  newcomers: {
    signUp: { method: 'POST', path: '/api/auth/sign-up', input: 'body', answer: 'session' },
  },
  notifications: {
    list: { method: 'GET', path: '/api/notifications', input: 'query' },
    markRead: { method: 'POST', path: '/api/notifications/read', input: 'body' },
  },
  oauth: {
    begin: { method: 'GET', path: '/api/oauth/{provider}', input: 'query' },
    exchangeCode: {
      method: 'POST',
      path: '/api/oauth/{provider}/manual',
      input: 'body',
      answer: 'session',
      ends_session: true,
    },
    finish: { method: 'GET', path: '/api/oauth/{provider}/callback', input: 'query', answer: 'redirect' },
  },
  participants: {
    add: { method: 'POST', path: '/api/conversations/{conversation_id}/participants', input: 'body' },
    changeRole: { method: 'PATCH', path: '/api/conversations/{conversation_id}/participants/{user_id}', input: 'body' },
    list: { method: 'GET', path: '/api/conversations/{conversation_id}/participants', input: 'query' },
    remove: { method: 'DELETE', path: '/api/conversations/{conversation_id}/participants/{user_id}' },
  },
  pins: {
    add: { method: 'PUT', path: '/api/messages/{message_id}/pin' },
    list: { method: 'GET', path: '/api/conversations/{conversation_id}/pins', input: 'query' },
    remove: { method: 'DELETE', path: '/api/messages/{message_id}/pin' },
  },
  presence: {
    list: { method: 'GET', path: '/api/presence', input: 'query' },
    sendHeartbeat: { method: 'POST', path: '/api/presence/heartbeat', input: 'body', is_optional: true },
    setTyping: { method: 'POST', path: '/api/typing', input: 'body' },
  },
  reactions: {
    add: { method: 'PUT', path: '/api/messages/{message_id}/reactions/{emoji}' },
    list: { method: 'GET', path: '/api/messages/{message_id}/reactions', input: 'query' },
    remove: { method: 'DELETE', path: '/api/messages/{message_id}/reactions/{emoji}', input: 'query' },
  },
  receipts: {
    ofMessage: { method: 'GET', path: '/api/messages/{message_id}/readers', input: 'query' },
    ofThread: { method: 'GET', path: '/api/threads/{root_id}/readers' },
  },
  resets: {
    redeem: { method: 'POST', path: '/api/auth/reset', input: 'body', answer: 'session' },
    request: { method: 'POST', path: '/api/auth/forgot', input: 'body' },
  },
  search: {
    messages: { method: 'GET', path: '/api/search', input: 'query' },
  },
  setup: {
    get: { method: 'GET', path: '/api/setup' },
    run: { method: 'POST', path: '/api/setup', input: 'body' },
  },
  threads: {
    follow: { method: 'PUT', path: '/api/threads/{root_id}/follow' },
    list: { method: 'GET', path: '/api/conversations/{conversation_id}/threads', input: 'query' },
    listFollowed: { method: 'GET', path: '/api/threads', input: 'query' },
    markRead: { method: 'POST', path: '/api/threads/{root_id}/read', input: 'body', is_optional: true },
    markUnread: { method: 'POST', path: '/api/threads/{root_id}/unread', input: 'body' },
    messages: { method: 'GET', path: '/api/threads/{root_id}/messages', input: 'query' },
    setTitle: { method: 'PATCH', path: '/api/threads/{root_id}', input: 'body' },
    tree: { method: 'GET', path: '/api/threads/{root_id}/tree', input: 'query' },
    unfollow: { method: 'DELETE', path: '/api/threads/{root_id}/follow' },
    unread: { method: 'GET', path: '/api/conversations/{conversation_id}/unread', input: 'query' },
  },
  users: {
    get: { method: 'GET', path: '/api/users/{user_id}' },
    search: { method: 'GET', path: '/api/users', input: 'query' },
  },
} as const satisfies Record<string, Record<string, Operation>>
