import { defineNitroPlugin } from 'nitro/runtime'
import { chat } from '../utils/chat'

export default defineNitroPlugin((app) => app.hooks.hook('close', () => chat.close()))
