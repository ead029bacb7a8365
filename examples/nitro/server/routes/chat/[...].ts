import { defineHandler } from 'nitro/h3'
import { chatApp } from '../../utils/chat'

export default defineHandler((event) => chatApp.fetch(event.req))
