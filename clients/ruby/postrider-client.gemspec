# frozen_string_literal: true

require_relative 'lib/postrider/version'

Gem::Specification.new do |spec|
  spec.name = 'postrider-client'
  spec.version = Postrider::VERSION
  spec.summary = 'Client for Postrider, the HTTP service for transactional e-mail'
  spec.description = 'Sends transactional e-mail through a Postrider server, manages domains, webhooks, templates and ' \
                     'suppressions, and verifies the signatures of webhooks. Standard library only.'
  spec.authors = ['The Postrider authors']
  spec.license = 'MIT'
  spec.required_ruby_version = '>= 3.1'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir.chdir(__dir__) { Dir['lib/**/*.rb', 'sig/**/*.rbs', 'README.md', 'CHANGELOG.md', 'LICENSE'].sort }
  spec.require_paths = ['lib']
end
