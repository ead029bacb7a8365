/** Code of a strict Node project; it compiles against the installed package without `skipLibCheck`. */
import { ChatError, createChatService, openStorage, parseConfig } from 'chat-server'
import { type ChatServer, createChatApp, serve } from 'chat-server/h3'

export async function listen(): Promise<ChatServer> {
  const chat = createChatService(parseConfig(), await openStorage())
  return serve(chat, { port: 0, host: '::1' })
}

export async function answer(request: Request): Promise<Response> {
  const storage = await openStorage({ database: 'sqlite::memory:' })
  const chat = createChatService(parseConfig({ session: { idle_seconds: 60 } }), storage)
  await chat.start()
  try {
    return await createChatApp(chat).fetch(request)
  } catch (error) {
    if (error instanceof ChatError && error.code === 'unavailable') return new Response(null, { status: error.status })
    throw error
  } finally {
    await chat.close()
  }
}
