// The version of the package, for User-Agent.
'use strict';

exports.VERSION = require('../package.json').version;
