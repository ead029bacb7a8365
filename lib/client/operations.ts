// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of users, by its feature and verb. */
export const OPERATIONS = {
  answers: {
    addChunk: 'POST /api/messages/{message_id}/chunks body',
    cancel: 'POST /api/messages/{message_id}/cancel',
    end: 'POST /api/messages/{message_id}/end body optional',
    listChunks: 'GET /api/messages/{message_id}/chunks query',
  },
  approvals: {
    decide: 'POST /api/approvals/{call_id} body',
    get: 'GET /api/approvals/{call_id}',
    list: 'GET /api/approvals query',
  },
  assistants: {
    list: 'GET /api/assistants query',
  },
  attachments: {
    create: 'POST /api/conversations/{conversation_id}/attachments body',
    get: 'GET /api/attachments/{attachment_id}',
    link: 'POST /api/attachments/{attachment_id}/link body optional',
    remove: 'DELETE /api/attachments/{attachment_id}',
  },
  auth: {
    changePassword: 'POST /api/auth/password body',
    changeProfile: 'PATCH /api/auth/me body',
    confirm: 'POST /api/auth/confirm body',
    listSessions: 'GET /api/auth/sessions query',
    login: 'POST /api/auth/login body session',
    logout: 'POST /api/auth/logout session ends_session',
    me: 'GET /api/auth/me',
    refresh: 'POST /api/auth/refresh session ends_session',
    removeAvatar: 'DELETE /api/auth/me/avatar',
    revokeSession: 'DELETE /api/auth/sessions/{session_id}',
    setAvatar: 'PUT /api/auth/me/avatar bytes',
  },
  bots: {
    change: 'PATCH /api/bots/{bot_id} body',
    create: 'POST /api/bots body',
    createKey: 'POST /api/bots/{bot_id}/keys body',
    list: 'GET /api/bots',
    listKeys: 'GET /api/bots/{bot_id}/keys',
    remove: 'DELETE /api/bots/{bot_id} query',
    revokeKey: 'DELETE /api/bots/{bot_id}/keys/{key_id}',
  },
  capabilities: {
    get: 'GET /api/features',
  },
  commands: {
    invoke: 'POST /api/conversations/{conversation_id}/commands body',
    list: 'GET /api/conversations/{conversation_id}/commands',
    setOfBot: 'PUT /api/bots/{bot_id}/commands body',
  },
  conversations: {
    create: 'POST /api/conversations body',
    direct: 'POST /api/conversations/direct body',
    directory: 'GET /api/conversations/directory query',
    get: 'GET /api/conversations/{conversation_id}',
    join: 'POST /api/conversations/{conversation_id}/join',
    leave: 'POST /api/conversations/{conversation_id}/leave',
    list: 'GET /api/conversations query',
    markAllRead: 'POST /api/conversations/read body optional',
    markRead: 'POST /api/conversations/{conversation_id}/read body optional',
    markUnread: 'POST /api/conversations/{conversation_id}/unread body',
    remove: 'DELETE /api/conversations/{conversation_id}',
    rename: 'PATCH /api/conversations/{conversation_id} body',
    setSettings: 'PATCH /api/conversations/{conversation_id}/settings body',
    settings: 'GET /api/conversations/{conversation_id}/settings',
  },
  emails: {
    checkLink: 'POST /api/auth/check-link body read',
    confirmChange: 'POST /api/auth/confirm-email body',
    requestChange: 'POST /api/auth/me/email body',
    sendVerification: 'POST /api/auth/me/verify-email',
    undoChange: 'POST /api/auth/undo-email body',
    verify: 'POST /api/auth/verify-email body',
  },
  events: {
    stream: 'GET /api/stream/conversations/{conversation_id} query',
    streamAll: 'GET /api/stream query',
  },
  feed: {
    read: 'GET /api/feed query',
  },
  feedback: {
    remove: 'DELETE /api/messages/{message_id}/feedback',
    set: 'PUT /api/messages/{message_id}/feedback body',
  },
  grants: {
    list: 'GET /api/auth/grants',
    revoke: 'DELETE /api/auth/grants/{grant_id}',
  },
  guests: {
    claim: 'POST /api/guests/claim body',
    create: 'POST /api/guests body session',
  },
  hooks: {
    create: 'POST /api/conversations/{conversation_id}/hooks body',
    list: 'GET /api/conversations/{conversation_id}/hooks',
    post: 'POST /api/hooks/{token} body',
    remove: 'DELETE /api/conversations/{conversation_id}/hooks/{hook_id}',
  },
  identities: {
    list: 'GET /api/auth/identities',
    remove: 'DELETE /api/auth/identities/{identity_id}',
  },
  invites: {
    accept: 'POST /api/invites/accept body session ends_session',
    create: 'POST /api/conversations/{conversation_id}/invites body',
    list: 'GET /api/conversations/{conversation_id}/invites query',
    preview: 'POST /api/invites/preview body read',
    revoke: 'POST /api/invites/{token}/revoke',
  },
  keys: {
    create: 'POST /api/auth/keys body',
    list: 'GET /api/auth/keys',
    revoke: 'DELETE /api/auth/keys/{key_id}',
  },
  messages: {
    edit: 'POST /api/messages/{message_id}/edit body',
    get: 'GET /api/messages/{message_id}',
    list: 'GET /api/conversations/{conversation_id}/messages query',
    listRevisions: 'GET /api/messages/{message_id}/revisions query',
    postRoot: 'POST /api/threads/{conversation_id}/root body',
    remove: 'POST /api/messages/{message_id}/delete body optional',
    reply: 'POST /api/messages/{parent_id}/reply body',
    restore: 'POST /api/messages/{message_id}/restore',
  },
  newcomers: {
    signUp: 'POST /api/auth/sign-up body session',
  },
  notices: {
    create: 'POST /api/conversations/{conversation_id}/notices body',
    list: 'GET /api/conversations/{conversation_id}/notices',
    remove: 'DELETE /api/notices/{notice_id}',
  },
  notifications: {
    list: 'GET /api/notifications query',
    markRead: 'POST /api/notifications/read body',
  },
  oauth: {
    begin: 'GET /api/oauth/{provider} query',
    exchangeCode: 'POST /api/oauth/{provider}/manual body session ends_session',
    finish: 'GET /api/oauth/{provider}/callback query redirect',
  },
  participants: {
    add: 'POST /api/conversations/{conversation_id}/participants body',
    changeRole: 'PATCH /api/conversations/{conversation_id}/participants/{user_id} body',
    list: 'GET /api/conversations/{conversation_id}/participants query',
    remove: 'DELETE /api/conversations/{conversation_id}/participants/{user_id}',
  },
  pins: {
    add: 'PUT /api/messages/{message_id}/pin',
    list: 'GET /api/conversations/{conversation_id}/pins query',
    remove: 'DELETE /api/messages/{message_id}/pin',
  },
  presence: {
    list: 'GET /api/presence query',
    sendHeartbeat: 'POST /api/presence/heartbeat body optional',
    setTyping: 'POST /api/typing body',
  },
  reactions: {
    add: 'PUT /api/messages/{message_id}/reactions/{emoji}',
    list: 'GET /api/messages/{message_id}/reactions query',
    remove: 'DELETE /api/messages/{message_id}/reactions/{emoji} query',
  },
  receipts: {
    ofMessage: 'GET /api/messages/{message_id}/readers query',
    ofThread: 'GET /api/threads/{root_id}/readers',
  },
  resets: {
    redeem: 'POST /api/auth/reset body session',
    request: 'POST /api/auth/forgot body',
  },
  search: {
    messages: 'GET /api/search query',
  },
  setup: {
    get: 'GET /api/setup',
    run: 'POST /api/setup body',
  },
  threads: {
    follow: 'PUT /api/threads/{root_id}/follow',
    list: 'GET /api/conversations/{conversation_id}/threads query',
    listFollowed: 'GET /api/threads query',
    markRead: 'POST /api/threads/{root_id}/read body optional',
    markUnread: 'POST /api/threads/{root_id}/unread body',
    messages: 'GET /api/threads/{root_id}/messages query',
    setTitle: 'PATCH /api/threads/{root_id} body',
    tree: 'GET /api/threads/{root_id}/tree query',
    unfollow: 'DELETE /api/threads/{root_id}/follow',
    unread: 'GET /api/conversations/{conversation_id}/unread query',
  },
  tokens: {
    issue: 'POST /api/auth/tokens body optional',
  },
  usage: {
    get: 'GET /api/usage',
  },
  users: {
    get: 'GET /api/users/{user_id}',
    search: 'GET /api/users query',
  },
  webhooks: {
    change: 'PATCH /api/webhooks/{webhook_id} body',
    create: 'POST /api/webhooks body',
    get: 'GET /api/webhooks/{webhook_id}',
    list: 'GET /api/webhooks query',
    listDeliveries: 'GET /api/webhooks/{webhook_id}/deliveries query',
    remove: 'DELETE /api/webhooks/{webhook_id}',
    replay: 'POST /api/webhooks/{webhook_id}/replay body',
    replayDelivery: 'POST /api/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
    rotate: 'POST /api/webhooks/{webhook_id}/rotate',
    test: 'POST /api/webhooks/{webhook_id}/test',
    verify: 'POST /api/webhooks/{webhook_id}/verify',
  },
} as const satisfies Record<string, Record<string, Operation>>
