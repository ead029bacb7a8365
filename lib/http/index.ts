export { type ChatApp, type ChatAppOptions, createChatApp, createNodeHandler } from './app.ts'
export { type ChatServer, type CloseOptions, type ServeOptions, serve } from './node/serve.ts'
export { createWellKnownHandler } from './oauth/well-known.ts'
export type { WebPage } from './web-page.ts'
