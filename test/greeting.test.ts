import t from 'tap'
import { greetingOf } from '../src/greeting.ts'

t.test('shows both keys and two requests that can be pasted as they are', async (t) => {
  const values = {
    organization_id: '00000000-0000-0000-0000-000000000001',
    project_id: 3,
    project_api_key: 'phc_public',
    personal_api_key: 'phx_secret',
    email: 'owner@localhost',
  }
  const text = greetingOf(values, 'http://127.0.0.1:8000', '/srv/data/bootstrap.json')
  t.match(text, 'project API key   phc_public')
  t.match(text, 'personal API key  phx_secret')
  t.match(text, "http://127.0.0.1:8000/capture/ -H 'content-type: application/json'")
  t.match(text, "'authorization: Bearer phx_secret' http://127.0.0.1:8000/api/projects/3/events/")
  t.match(text, '/srv/data/bootstrap.json')
  t.match(text, 'http://127.0.0.1:8000/docs/')
})
